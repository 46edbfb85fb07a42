"""Saved models: versioned JSON with a checksum and a test vector. Reading one runs no code from the file.

The checksum notices damage. It is not a signature: whoever can write the file can write a matching checksum.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from calibrant import _validation
from calibrant._files import AnyPath, write_atomically
from calibrant._typing import Floats
from calibrant.errors import ModelFileError

FORMAT, VERSION = "calibrant", 1
LARGEST_FILE = 1 << 28  # bytes; parsed, a file takes some ten times as much memory
WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def plain_fields(record: Any, *without: str) -> dict[str, Any]:
    """The fields of a dataclass by name, ready for JSON."""
    return {f.name: _plain(getattr(record, f.name)) for f in fields(record) if f.name not in without}


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists, records as dictionaries; JSON has no infinity, and null stands for it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if is_dataclass(value):
        return value.to_dict() if hasattr(value, "to_dict") else plain_fields(value)
    return None if isinstance(value, float) and not np.isfinite(value) else value


def read_floats(data: Mapping[str, Any], name: str) -> Floats:
    """An entry of numbers as an array; whatever else stands there is refused."""
    numbers = _validation.as_floats(data[name], name)
    if not np.isfinite(numbers).all():
        raise ModelFileError(f"The numbers `{name}` of this model are damaged.")
    return numbers


def write_model(path: AnyPath, content: Mapping[str, Any]) -> None:
    """Write a document; the file appears whole or not at all."""
    document = {"format": FORMAT, "version": VERSION, **content}
    write_atomically(path, json.dumps(document | {"checksum": checksum(document)}, allow_nan=False))


def read_model(path: AnyPath) -> dict[str, Any]:
    """Read a document; what is damaged, or of a newer version, is refused."""
    size = Path(path).stat().st_size
    if size > LARGEST_FILE:
        raise ModelFileError(f"{path} is too large for a model: {size >> 20} MB, at most {LARGEST_FILE >> 20}.")
    try:
        document: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse)
        content = {key: value for key, value in document.items() if key != "checksum"}
        expected = checksum(content)
    except (AttributeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a calibrant model, or it was cut short: {_short(error)}") from error
    version = document.get("version")
    if document.get("format") != FORMAT or not isinstance(document.get("kind"), str):
        raise ModelFileError(f"{path} is JSON, but not a model that calibrant saved.")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ModelFileError(
            f"{path} has file version {version!r}; this calibrant reads up to {VERSION}. Install a newer calibrant."
        )
    if document.get("checksum") != expected:
        raise ModelFileError(f"{path} is damaged: its checksum does not match. Save the model again.")
    return document


@contextmanager
def reading_kind(path: AnyPath, kind: str) -> Iterator[dict[str, Any]]:
    """The document in a file that must be of a kind, to be read within."""
    document = read_model(path)
    if document["kind"] != kind:
        raise ModelFileError(f"{path} holds no {kind}; it is of the kind {document['kind']!r}.")
    with reading(path):
        yield document


@contextmanager
def reading(path: AnyPath) -> Iterator[None]:
    """Say in one sentence whatever is wrong with the content of a file."""
    try:
        yield
    except ModelFileError:
        raise
    except WRONG as error:
        raise ModelFileError(f"{path} is not a sound model: {_short(error)}") from error


def checksum(content: Any) -> str:
    """The same for the same content, whatever the order of its entries."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of a model")


def _short(error: Exception) -> str:
    text = str(error)
    return f"{type(error).__name__}, {text[:100]}{'…' * (len(text) > 100)}."
