"""The commands, put together; and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.printing import plain_warnings
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
    quiet: options.Quiet = False,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    from calibrant.cli.printing import settings

    settings.quiet = quiet


def _add_commands() -> None:
    from calibrant.cli import comparing, exporting, fitting, judging, material

    panels = {
        "Judge": (comparing.compare, judging.evaluate, judging.report, judging.monitor),
        "Calibrate": (fitting.fit, fitting.apply, exporting.export),
        "Learn": (material.demo, material.methods, material.simulate),
    }
    for panel, commands in panels.items():
        for command in commands:
            app.command(rich_help_panel=panel)(_quietable(command))


def _quietable(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with --quiet among its own options, because people write it behind the command, too."""

    @functools.wraps(command)
    def called(*arguments: Any, quiet: bool = False, **chosen: Any) -> None:
        from calibrant.cli.printing import settings

        settings.quiet = settings.quiet or quiet
        command(*arguments, **chosen)

    plain = inspect.signature(command, eval_str=True)
    extra = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=options.Quiet)
    signature = plain.replace(parameters=[*plain.parameters.values(), extra])
    vars(called)["__signature__"] = signature
    called.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return called


_add_commands()


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; whatever goes wrong is said in one sentence."""
    _open_streams()
    try:
        with stoppable(), plain_warnings():
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


def _open_streams() -> None:
    """Give a process that was started with closed streams empty ones: Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end


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
