"""planc: compile a written description of a GPU graph into a plan, and replay it."""

__version__ = "0.1.0"
