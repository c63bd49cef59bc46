"""Load a plan and replay it on a device."""
