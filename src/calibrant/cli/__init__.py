"""The command line. Nothing imports it, and it imports what a command needs only when the command runs."""

import sys

from calibrant.cli.errors import listen_to_signals, report_interruption, restore_signals

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit code."""
    listen_to_signals()  # first of all, so that Ctrl-C during imports gives a sentence, too
    try:
        from calibrant.cli.app import run

        code = run(sys.argv[1:])
    except (KeyboardInterrupt, SystemExit) as error:
        code = report_interruption(error)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "click", "rich"):
            raise
        sys.stderr.write('error: The command line needs typer and rich; run: pip install "calibrant[cli,tables]"\n')
        code = 2
    restore_signals()  # Python is taking itself apart: a signal must not raise in there
    sys.exit(code)
