"""The commands, put together; and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from calibrant.cli.problems import INTERRUPTED, explained
from calibrant.cli.stopping import stoppable, stopped

__all__ = ["app", "run"]

app = typer.Typer(
    name="calibrant",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Turn the scores of any classifier into probabilities that can be believed.",
    epilog="Start with `calibrant demo`, or `calibrant compare data.csv`.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from calibrant import __version__

        sys.stdout.write(f"calibrant {__version__}\n")
        raise typer.Exit


@app.callback()
def _before(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No remarks on the way.")] = False,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    from calibrant.cli.printing import settings

    settings.quiet = quiet


def _add_commands() -> None:
    from calibrant.cli import comparing, fitting, judging, material

    judge, make, data = "Judge", "Calibrate", "Learn"
    app.command(rich_help_panel=judge)(comparing.compare)
    app.command(rich_help_panel=judge)(judging.evaluate)
    app.command(rich_help_panel=judge)(judging.report)
    app.command(rich_help_panel=judge)(judging.monitor)
    app.command(rich_help_panel=make)(fitting.fit)
    app.command(rich_help_panel=make)(fitting.apply)
    app.command(rich_help_panel=make)(fitting.export)
    app.command(rich_help_panel=data)(material.demo)
    app.command(rich_help_panel=data)(material.methods)
    app.command(rich_help_panel=data)(material.simulate)


_add_commands()


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; whatever goes wrong is said in one sentence."""
    try:
        with stoppable():
            code = app(args=list(arguments), prog_name="calibrant", standalone_mode=False)
            sys.stdout.flush()
        if code == INTERRUPTED:  # what the parser makes of Ctrl-C
            return _report(KeyboardInterrupt())
        return code if isinstance(code, int) else 0
    except BaseException as caught:
        error = stopped() or caught
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else 1
        return _report(error)


def _report(error: BaseException) -> int:
    if os.environ.get("CALIBRANT_DEBUG"):
        raise error
    text, code = explained(error)
    if isinstance(error, OSError):
        from calibrant.cli.writing import drop_stdout

        drop_stdout()
    if text:
        sys.stderr.write(f"error: {text}\n")
    return code
