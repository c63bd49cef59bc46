"""Proves a Schedule against its Program."""

from planc.checker.schedule import check_schedule

__all__ = ["check_schedule"]
