"""Which files are meant, and what they are, judged by their content: checked before anything long begins."""

from __future__ import annotations

import codecs
import csv
import difflib
import glob
import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from calibrant.cli.printing import note
from calibrant.cli.problems import Problem

__all__ = [
    "check_gzip",
    "delimiter_of",
    "format_named",
    "format_of",
    "found_files",
    "header_width",
    "is_stream",
    "odd_line",
    "spooled",
]

STDIN = "-"

ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".txt"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
LONGEST_LINE = 2_000_000  # DuckDB's limit, too
STREAM_MAGIC, GZIP_MAGIC = b"\xff\xff\xff\xff", b"\x1f\x8b"


def found_files(pattern: str) -> list[str]:
    """The files of a path or glob, in order; an error tells of near names."""
    path = Path(pattern)
    if path.is_dir():
        raise Problem(f"{pattern} is a folder; name its files, such as '{path / '*.parquet'}'.")
    if "://" in pattern or path.exists():
        return [pattern]
    if path.is_symlink():
        raise Problem(f"{pattern} is a link to {path.readlink()}, which does not exist.")
    found = sorted(name for name in glob.glob(pattern, recursive=True) if Path(name).is_file())  # noqa: PTH207
    _check_folders(path)
    if found:
        return found
    if any(sign in pattern for sign in "*?["):
        raise Problem(f"No file matches '{pattern}'.")
    raise Problem(f"There is no file {pattern}.{_hint(path)}")


def _check_folders(pattern: Path) -> None:
    """Refuse a pattern with a folder that may not be read: its files would be missing without a word."""
    for part in reversed(pattern.parents):
        for folder in glob.glob(str(part), recursive=True):  # noqa: PTH207
            if Path(folder).is_dir() and not os.access(folder, os.R_OK | os.X_OK):
                raise Problem(f"The folder {folder} cannot be read: permission denied.")


def _hint(path: Path) -> str:
    if not path.parent.is_dir():
        return f" The folder {path.parent} does not exist."
    near = difflib.get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=2, cutoff=0.75)
    return f" Did you mean {' or '.join(str(path.parent / name) for name in near)}?" if near else ""


def format_named(name: str) -> str | None:
    """The format that the ending of a name stands for."""
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    return next((kind for kind, endings in ENDINGS.items() if plain.endswith(endings)), None)


def format_of(name: str, shown: str | None = None) -> str:
    """The format of a file, by its content where that is open to view; what is no table is refused.

    `shown` is what the user calls it, if not by its name.
    """
    shown = shown or name
    named = format_named(name)
    if "://" in name or name.lower().endswith(".zst"):
        return named or "csv"
    head = _head(name)
    if not head:
        raise Problem(f"{shown} is empty; it must be a table with a header and at least one row.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", STREAM_MAGIC)):
        return "arrow"
    if named in ("parquet", "arrow"):
        raise Problem(f"{shown} is named as {named.capitalize()}, but its content is not; it may be damaged.")
    _check_text(shown, head)
    if len(head) > LONGEST_LINE and not any(end in head[:LONGEST_LINE] for end in (b"\n", b"\r")):
        raise Problem(f"{shown} has a line longer than 2 MB, so it is not a table with one row on each line.")
    return "json" if head.lstrip()[:1] in (b"{", b"[") else "csv"


def delimiter_of(name: str) -> str | None:
    """What separates the names in the header of a CSV file; None where there is one column, or it is not seen."""
    if "://" in name or name.lower().endswith(".zst"):
        return None
    line = _head(name).splitlines()[0].decode("utf-8", "replace")
    count = {sign: line.count(sign) for sign in ",;\t|"}
    best = max(count, key=lambda sign: count[sign])
    return best if count[best] else None


def header_width(name: str, sign: str) -> int:
    """The number of columns in the first line of a CSV file."""
    with suppress(csv.Error):  # a name longer than a field may be
        return len(next(_lines(name, sign), []))
    return 0


def _lines(name: str, sign: str) -> Any:
    return csv.reader(_head(name).decode("utf-8", "replace").splitlines()[:20_000], delimiter=sign)


def odd_line(name: str, sign: str) -> str | None:
    """The first line near the beginning that has another number of columns than the header, in words."""
    lines = _lines(name, sign)
    try:
        wanted = len(next(lines, []))
        found = next(((lines.line_num, len(row)) for row in lines if row and len(row) != wanted), None)
    except csv.Error:
        return None
    return (
        None if found is None else f"line {found[0]} has {found[1]} columns, its header has {wanted}. Repair that line."
    )


def _head(name: str) -> bytes:
    with _whole(name), gzip.open(name) if name.lower().endswith(".gz") else Path(name).open("rb") as file:
        return bytes(file.read(LONGEST_LINE + 1))


def check_gzip(name: str) -> None:
    """Read a gzip file to its end, for a reader that takes what a cut one begins with for all of it."""
    if name.lower().endswith(".gz") and "://" not in name:
        with _whole(name), gzip.open(name) as file:
            while file.read(1 << 20):
                pass


@contextmanager
def _whole(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Problem(f"{name} is not a whole gzip file; it may be damaged or cut short.") from error


def _check_text(name: str, head: bytes) -> None:
    sample = head[:65536]
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Problem(f"{name} is UTF-16 text; convert it to UTF-8 first, for example with iconv.")
    if sample.startswith(GZIP_MAGIC):
        raise Problem(f"{name} is a gzip file; let its name end in .gz, as in data.csv.gz.")
    control = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in sample)
    if b"\0" in sample or control > 0.01 * len(sample):
        raise Problem(f"{name} is not a table: it holds binary data, not CSV, Parquet, Arrow or JSON lines.")
    try:
        # The sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) == len(head))
    except UnicodeDecodeError:
        raise Problem(f"{name} is not UTF-8 text; convert it first, for example with iconv.") from None


def is_stream(name: str) -> bool:
    """Whether a name is that of a pipe or device, which can be read only once."""
    return "://" not in name and Path(name).exists() and not Path(name).is_file()


@contextmanager
def spooled(name: str = STDIN) -> Iterator[str]:
    """Standard input, or a pipe or device, as a file that is gone afterwards."""
    shown = "Standard input" if name == STDIN else name
    if name == STDIN and sys.stdin.isatty():
        note("Reading the table from the terminal; end it with Ctrl-D.")
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        path = Path(folder) / "table"
        with ExitStack() as stack:
            source = sys.stdin.buffer if name == STDIN else stack.enter_context(Path(name).open("rb"))
            with path.open("wb") as file:
                while block := source.read(1 << 20):
                    file.write(block)
        if path.stat().st_size == 0:
            raise Problem(f"{shown} is empty; pipe a table into it, or name a file.")
        yield str(path)
