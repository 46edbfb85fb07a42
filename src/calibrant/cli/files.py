"""Which files are meant, and what they are, judged by their content: checked before anything long begins."""

from __future__ import annotations

import codecs
import csv
import difflib
import glob
import gzip
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibrant.cli.printing import note
from calibrant.cli.problems import Problem

__all__ = ["delimiter_of", "format_named", "format_of", "found_files", "odd_line", "spooled"]

ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".txt"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
LONGEST_LINE = 2_000_000  # DuckDB's limit, too
STREAM_MAGIC = b"\xff\xff\xff\xff"


def found_files(pattern: str) -> list[str]:
    """The files of a path or glob, in order; an error tells of near names."""
    path = Path(pattern)
    if path.is_dir():
        raise Problem(f"{pattern} is a folder; name its files, such as '{path / '*.parquet'}'.")
    if "://" in pattern or path.exists():
        return [pattern]
    found = sorted(name for name in glob.glob(pattern, recursive=True) if Path(name).is_file())  # noqa: PTH207
    if found:
        return found
    if any(sign in pattern for sign in "*?["):
        raise Problem(f"No file matches '{pattern}'.")
    raise Problem(f"There is no file {pattern}.{_hint(path)}")


def _hint(path: Path) -> str:
    if not path.parent.is_dir():
        return f" The folder {path.parent} does not exist."
    near = difflib.get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=2, cutoff=0.75)
    return f" Did you mean {' or '.join(str(path.parent / name) for name in near)}?" if near else ""


def format_named(name: str) -> str | None:
    """The format that the ending of a name stands for."""
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    return next((kind for kind, endings in ENDINGS.items() if plain.endswith(endings)), None)


def format_of(name: str) -> str:
    """The format of a file, by its content where that is open to view; what is no table is refused."""
    named = format_named(name)
    if "://" in name or name.lower().endswith(".zst"):
        return named or "csv"
    head = _head(name)
    if not head:
        raise Problem(f"{name} is empty; it must be a table with a header and at least one row.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", STREAM_MAGIC)):
        return "arrow"
    if named in ("parquet", "arrow"):
        raise Problem(f"{name} is named as {named.capitalize()}, but its content is not; it may be damaged.")
    _check_text(name, head)
    if len(head) > LONGEST_LINE and not any(end in head[:LONGEST_LINE] for end in (b"\n", b"\r")):
        raise Problem(f"{name} has a line longer than 2 MB, so it is not a table with one row on each line.")
    return "json" if head.lstrip()[:1] in (b"{", b"[") else "csv"


def delimiter_of(name: str) -> str | None:
    """What separates the names in the header of a CSV file; None where there is one column, or it is not seen."""
    if "://" in name or name.lower().endswith(".zst"):
        return None
    line = _head(name).splitlines()[0].decode("utf-8", "replace")
    count = {sign: line.count(sign) for sign in ",;\t|"}
    best = max(count, key=lambda sign: count[sign])
    return best if count[best] else None


def odd_line(name: str, sign: str) -> str | None:
    """The first line near the beginning that has another number of columns than the header, in words."""
    lines = csv.reader(_head(name).decode("utf-8", "replace").splitlines()[:20_000], delimiter=sign)
    wanted = len(next(lines, []))
    try:
        found = next(((lines.line_num, len(row)) for row in lines if row and len(row) != wanted), None)
    except csv.Error:
        return None
    return (
        None if found is None else f"line {found[0]} has {found[1]} columns, its header has {wanted}. Repair that line."
    )


def _head(name: str) -> bytes:
    with gzip.open(name) if name.lower().endswith(".gz") else Path(name).open("rb") as file:
        try:
            return bytes(file.read(LONGEST_LINE + 1))
        except (EOFError, gzip.BadGzipFile) as error:
            raise Problem(f"{name} is not a whole gzip file; it may have been cut short.") from error


def _check_text(name: str, head: bytes) -> None:
    sample = head[:65536]
    control = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in sample)
    if b"\0" in sample or control > 0.01 * len(sample):
        raise Problem(f"{name} is not a table: it holds binary data, not CSV, Parquet, Arrow or JSON lines.")
    try:
        # The sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) == len(head))
    except UnicodeDecodeError:
        raise Problem(f"{name} is not UTF-8 text; convert it first, for example with iconv.") from None


@contextmanager
def spooled() -> Iterator[str]:
    """Standard input as a file, which is gone afterwards."""
    if sys.stdin.isatty():
        note("Reading the table from the terminal; end it with Ctrl-D.")
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as file:
            while block := sys.stdin.buffer.read(1 << 20):
                file.write(block)
        if path.stat().st_size == 0:
            raise Problem("Standard input is empty; pipe a table into it, or name a file.")
        yield str(path)
