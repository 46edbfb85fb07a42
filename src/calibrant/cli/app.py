"""The commands, put together; and the one place where errors become sentences and exit codes."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from calibrant.cli import options
from calibrant.cli.compare import compare, evaluate, gate, report
from calibrant.cli.errors import WARNED, check_interruption, explain, interruption, report_interruption
from calibrant.cli.methods import fit, methods
from calibrant.cli.models import apply, estimate, export
from calibrant.cli.monitoring import adapt, monitor, replay
from calibrant.cli.printing import drop_stdout, escape, settings, warn

QUIET, STRICT = {"-q", "--quiet"}, {"--strict"}
VERSION = "Show the version and exit."
PANELS = {
    "Judge": (compare, evaluate, estimate, gate, report, monitor, replay),
    "Calibrate": (fit, apply, export, adapt),
    "Learn": (methods,),
}


app = typer.Typer(
    name="calibrant",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Turn the scores of any classifier into probabilities you can trust.",
    epilog="Start with `calibrant compare data.csv`.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from calibrant import __version__

        sys.stdout.write(f"calibrant {__version__}\n")
        raise typer.Exit


@app.callback()
def _before(
    quiet: options.Quiet = False,
    strict: options.Strict = False,
    version: Annotated[bool, options.option(VERSION, "--version", callback=_show_version, is_eager=True)] = False,
) -> None:
    del version, quiet, strict  # a callback does the one, `run` the others


for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; whatever goes wrong is said in one sentence."""
    # People write --quiet and --strict behind the command, too, where the parser does not look for them.
    settings.quiet, settings.warned = not QUIET.isdisjoint(arguments), False
    words = [word for word in arguments if word not in QUIET | STRICT]
    try:
        with warnings.catch_warnings():
            # without the line of code that it comes from
            warnings.showwarning = lambda message, *_place, **_more: warn(str(message))
            code = app(args=words, prog_name="calibrant", standalone_mode=False) or 0
            sys.stdout.flush()
        check_interruption()
        return code or (WARNED if settings.warned and not STRICT.isdisjoint(arguments) else 0)
    except BaseException as caught:
        error = interruption() or caught  # compiled code reports a signal as something else
        if isinstance(error, KeyboardInterrupt | SystemExit) or type(error).__name__ == "Abort":
            return report_interruption(error)
        if os.environ.get("CALIBRANT_DEBUG"):
            raise
        if isinstance(error, OSError):
            drop_stdout()
        text, code = explain(error)
        if text:
            sys.stderr.write(f"error: {escape(text)}\n")
        return code
