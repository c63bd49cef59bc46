"""Graphs written in Python."""
