"""The command line. Nothing imports it, and it imports what a command needs only when the command runs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        from calibrant.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "typer":
            raise
        sys.stderr.write('error: The command line needs typer and rich; run: pip install "calibrant[cli,tables]"\n')
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))
