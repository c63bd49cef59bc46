"""From a Program to a Schedule."""

from planc.passes.written import written

__all__ = ["written"]
