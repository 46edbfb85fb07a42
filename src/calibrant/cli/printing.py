"""Data go to standard output or a file, everything else to standard error; movement only on a terminal."""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from calibrant.cli.errors import BROKEN_PIPE, Refusal, check_interruption

LONGEST_NAME = 60
# What a terminal may take for a command, or what changes the order of the letters around it.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
settings = SimpleNamespace(quiet=False, warned=False)  # what the options before the command say; what was said


def escape(text: str) -> str:
    """Write control characters so that a terminal shows them instead of obeying."""
    return CONTROL.sub(
        lambda match: f"\\x{ord(match[0]):02x}" if match[0] < "\xff" else f"\\u{ord(match[0]):04x}", text
    )


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long name of a column or segment, and escape it."""
    shown = escape(name)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def note(text: str) -> None:
    """Print a progress message, unless these are suppressed."""
    if not settings.quiet:
        sys.stderr.write(f"{escape(text)}\n")


def warn(text: str) -> None:
    """Print a warning, which is never suppressed."""
    settings.warned = True
    sys.stderr.write(f"warning: {escape(text)}\n")


def print_json(value: Any) -> None:
    """Print one JSON document; results of the library are written as their dictionaries, other objects as text."""

    def as_plain(found: Any) -> Any:
        return found.to_dict() if hasattr(found, "to_dict") else str(found)

    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=as_plain)
    # JSON leaves some control characters as they are, but allows to escape them.
    plain = "\n".join(CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line) for line in text.split("\n"))
    sys.stdout.write(f"{plain}\n")


def print_table(title: str, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as aligned text; long names in its first column are cut."""
    from calibrant._tables import align

    lines = align([headers, *([shorten(name), *map(escape, texts)] for name, *texts in rows)])
    sys.stdout.write("\n".join([*([title] if title else []), *lines]) + "\n")


@contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that work goes on; call what it yields with the name of each next step.

    A signal inside a step, which looks like its failure, ends all steps.
    """
    if settings.quiet or not sys.stderr.isatty():
        yield lambda _name: check_interruption()
        check_interruption()
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(escape(text))) as status:

        def step(name: str) -> None:
            check_interruption()
            status.update(Text(escape(f"{text}: {name}")))

        yield step
    check_interruption()


def is_stdout(output: str | None) -> bool:
    """Tell whether a result goes to standard output."""
    return output in (None, "-")


def check_target(output: str | None, sources: Iterable[str] = ()) -> None:
    """Refuse a place that cannot be written to, or one of the files that the result is made from."""
    if output is None or is_stdout(output):
        return
    from calibrant._files import follow_links
    from calibrant.engines.tables import find_files

    path = follow_links(output)
    if path.is_dir():
        raise Refusal(f"{output} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        return  # a pipe or a device is written to, whatever its folder allows
    if not path.parent.is_dir():
        raise Refusal(f"The folder {path.parent} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise Refusal(f"The folder {path.parent} cannot be written to: permission denied.")
    for name in (name for source in sources if source != "-" for name in find_files(source)):
        if Path(name).exists() and path.exists() and path.samefile(name):
            raise Refusal(f"{output} is an input and would be overwritten; name another file.")


@contextmanager
def written(output: str | None) -> Iterator[Path]:
    """Give a path to write to; its content goes to the target, or to standard output, if all goes well."""
    if output is not None and not is_stdout(output):
        from calibrant._files import replacing

        with replacing(output) as path:
            yield path
        return
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        path = Path(folder) / "output"
        yield path
        sys.stdout.flush()
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except BrokenPipeError:  # the reader, such as head, has seen enough
            drop_stdout()
            raise SystemExit(BROKEN_PIPE) from None


def drop_stdout() -> None:
    """Keep what could not be written to standard output from failing a second time when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_screen(output: str | None, kind: str) -> None:
    """Refuse to fill a terminal with binary data."""
    if is_stdout(output) and sys.stdout.isatty():
        raise Refusal(f"{kind} is not for the screen; name a file with -o.")
