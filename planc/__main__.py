"""``python -m planc``."""

from planc.cli import main

main()
