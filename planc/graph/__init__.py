"""From an expanded graph to a Program: names, views, effects, order."""
