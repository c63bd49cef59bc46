"""From a Program to a Schedule."""
