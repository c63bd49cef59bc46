"""The command line: ``planc check``, ``compile``, ``run`` and the rest.

Exit codes: 0 well, 1 errors in the user's files, 2 usage, 3 a fault of planc itself, 4 device or
driver. Nothing heavier than typer is imported until a command runs.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the entry point ``planc``."""
    try:
        from planc.cli.app import app
    except ModuleNotFoundError as missing:
        sys.stderr.write(
            f"planc's command line needs the author's extra, and `{missing.name}` is not installed: "
            "pip install 'planc[author]'\n"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)


__all__ = ["main"]
