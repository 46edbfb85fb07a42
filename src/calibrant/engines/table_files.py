"""Files of tables: which ones are meant, what they hold by their content, and whether they are whole."""

import codecs
import csv
import difflib
import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calibrant._optional import require
from calibrant.errors import InvalidInputError

ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".txt"),
    "json": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
LONGEST_LINE = 2_000_000  # DuckDB's limit
STREAM_MAGIC, GZIP_MAGIC = b"\xff\xff\xff\xff", b"\x1f\x8b"


def find_files(source: str) -> list[str]:
    """List the files of a path, folder or glob in order. An existing path is that file, whatever characters it has."""
    path = Path(source)
    if path.is_dir():
        return _find_parts(path)
    if is_remote(source) or path.exists():
        return [source]
    if path.is_symlink():
        raise InvalidInputError(f"{source} is a link to {path.readlink()}, which does not exist.")
    matches = sorted(name for name in glob.glob(source, recursive=True) if Path(name).is_file())  # noqa: PTH207
    _check_folders(path)
    if matches:
        return matches
    if glob.has_magic(source):
        raise InvalidInputError(f"No file matches '{source}'.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"There is no file {source}. The folder {path.parent} does not exist.")
    near = suggest(path.name, (entry.name for entry in path.parent.iterdir()), cutoff=0.75)
    raise InvalidInputError(f"There is no file {source}. {near}".rstrip())


def suggest(name: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.5) -> str:
    """Suggest the known names that are like a wrong one."""
    lower = {one.lower(): one for one in known}
    near = [lower[one] for one in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=cutoff)]
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else otherwise


def _find_parts(folder: Path) -> list[str]:
    """List the Parquet files of a folder: as Spark writes a table, with its own files beside the data."""
    _check_folders(folder / "*")
    parts = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    names = [str(path) for path in parts if not any(x.startswith(("_", ".")) for x in path.relative_to(folder).parts)]
    if not names:
        raise InvalidInputError(f"{folder} is a folder without Parquet files; name its files, as '{folder / '*.csv'}'.")
    return names


def is_remote(name: str) -> bool:
    """Tell whether a name is an address, such as s3://…, which DuckDB reads by itself."""
    return "://" in name


def _check_folders(pattern: Path) -> None:
    """Refuse a pattern with a folder that may not be read: its files would be missing without a word."""
    for part in reversed(pattern.parents):
        for folder in glob.glob(str(part), recursive=True):  # noqa: PTH207
            if Path(folder).is_dir() and not os.access(folder, os.R_OK | os.X_OK):
                raise InvalidInputError(f"The folder {folder} cannot be read: permission denied.")


def format_of_name(name: str) -> str | None:
    """Return the format that the ending of a name stands for."""
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    return next((kind for kind, endings in ENDINGS.items() if plain.endswith(endings)), None)


def detect_format(name: str, shown: str) -> str:
    """Return the format of a file, by its content; refuse what is not a table, calling it `shown`."""
    named = format_of_name(name)
    if is_remote(name):
        return named or "csv"
    head = _read_head(name)
    if not head:
        raise InvalidInputError(f"{shown} is empty; it must be a table with a header and at least one row.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", STREAM_MAGIC)):
        return "arrow"
    if named in ("parquet", "arrow"):
        raise InvalidInputError(f"{shown} is named as {named.capitalize()}, but its content is not; it may be damaged.")
    _check_text(shown, head)
    if len(head) > LONGEST_LINE and not any(end in head[:LONGEST_LINE] for end in (b"\n", b"\r")):
        raise InvalidInputError(f"{shown} has a line longer than 2 MB, so it is not a table with one row on each line.")
    return "json" if head.lstrip()[:1] in (b"{", b"[") else "csv"


def _check_text(name: str, head: bytes) -> None:
    sample = head[:65536]
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidInputError(f"{name} is UTF-16 text; convert it to UTF-8 first, for example with iconv.")
    if sample.startswith(GZIP_MAGIC):
        raise InvalidInputError(f"{name} is a gzip file; let its name end in .gz, as in data.csv.gz.")
    control = sum(byte < 32 and byte not in b"\t\n\r\f" for byte in sample)
    if b"\0" in sample or control > 0.01 * len(sample):
        raise InvalidInputError(f"{name} is not a table: it holds binary data, not CSV, Parquet, Arrow or JSON lines.")
    try:
        # The sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) == len(head))
    except UnicodeDecodeError:
        raise InvalidInputError(f"{name} is not UTF-8 text; convert it first, for example with iconv.") from None


def detect_dialect(name: str, shown: str) -> tuple[str, list[str]]:
    """Return the delimiter of a CSV file and the fields of its first line.

    A line near the beginning with another number of columns is an error.
    """
    text = _read_head(name).decode("utf-8-sig", "replace")
    first = text.splitlines()[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(text.splitlines(keepends=True)[:20_000], delimiter=delimiter)
    fields: list[str] = []
    try:
        fields = next(rows, [])
        odd = next(((rows.line_num, len(row)) for row in rows if row and len(row) != len(fields)), None)
    except csv.Error:  # a field longer than Python's reader takes
        odd = None
    # The last line may have been cut where the sample ends.
    if odd is not None and (len(text) < LONGEST_LINE or odd[0] < rows.line_num):
        raise InvalidInputError(
            f"{shown} is not a sound CSV file: line {odd[0]} has {odd[1]} columns, its header has {len(fields)}. "
            "Repair that line."
        )
    return delimiter, fields


def _read_head(name: str) -> bytes:
    with open_bytes(name) as file:
        return bytes(file.read(LONGEST_LINE + 1))


def codec_of_name(name: str) -> str | None:
    """Return the compression that the ending of a name stands for."""
    return {".gz": "gzip", ".zst": "zstd"}.get(Path(name).suffix.lower())


def open_bytes(name: str) -> Any:
    """Open a local file for reading, unpacked as its name says."""
    pyarrow = require("pyarrow", "tables", "Reading tables")  # first, lest a file stay open where it is missing
    file = Path(name).open("rb")  # noqa: SIM115 - Arrow closes it; its own errors do not name the file
    return pyarrow.input_stream(file, compression=codec_of_name(name))


def check_gzip(name: str) -> None:
    """Read a gzip file to its end: DuckDB 1 takes what a cut one begins with for all of it."""
    if codec_of_name(name) == "gzip" and not is_remote(name):
        with open_bytes(name) as file:
            while file.read(1 << 20):
                pass
