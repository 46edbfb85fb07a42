"""Saved models: versioned JSON with a checksum and a test vector. Reading one runs no code from the file.

The checksum notices damage. It is not a signature: whoever can write the file can write a matching checksum.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from calibrant._files import AnyPath, write_atomically
from calibrant._typing import Floats
from calibrant.errors import ModelFileError

LARGEST_FILE = 1 << 28  # bytes; parsed, a file takes some ten times as much memory
WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

Model = TypeVar("Model", bound=Callable[..., Floats])
Part = TypeVar("Part")
Vector = Mapping[str, Any]


def write_model(path: AnyPath, kind: str, version: int, content: Mapping[str, Any], indent: int | None = None) -> None:
    """Write a document of this kind; the file appears whole or not at all."""
    document = {"format": kind, "version": version, **content}
    write_atomically(path, json.dumps(document | {"checksum": checksum(document)}, indent=indent, allow_nan=False))


def read_model(path: AnyPath, kinds: Mapping[str, int]) -> dict[str, Any]:
    """Read a document of one of these kinds, each with the newest version that is known; what is damaged is refused."""
    size = Path(path).stat().st_size
    if size > LARGEST_FILE:
        raise ModelFileError(f"{path} is too large for a model: {size >> 20} MB, at most {LARGEST_FILE >> 20}.")
    try:
        document: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse)
        content = {key: value for key, value in document.items() if key != "checksum"}
        expected = checksum(content)
    except (AttributeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a calibrant model, or it was cut short: {_short(error)}") from error
    kind, version = document.get("format"), document.get("version")
    if not isinstance(kind, str) or kind not in kinds:
        raise ModelFileError(f"{path} is JSON, but not a map that calibrant saved.")
    if type(version) is not int or not 1 <= version <= kinds[kind]:
        raise ModelFileError(
            f"{path} has file version {version!r}; this calibrant reads up to {kinds[kind]}. Install a newer calibrant."
        )
    if document.get("checksum") != expected:
        raise ModelFileError(f"{path} is damaged: its checksum does not match. Save the model again.")
    return document


def _run(model: Callable[..., Floats], vector: Vector) -> Floats:
    return model(vector["scores"])


def restore(
    make: Callable[[dict[str, Any]], Model],
    document: dict[str, Any],
    path: AnyPath,
    tolerance: float,
    run: Callable[[Model, Vector], Floats] = _run,
) -> Model:
    """Make the model of a document, and check that it computes what it computed when it was saved."""

    def replay(content: dict[str, Any]) -> tuple[Model, float]:
        model, vector = make(content["map"]), content["test_vector"]
        now, then = run(model, vector), np.asarray(vector["probabilities"], dtype=np.float64)
        return model, float(np.abs(now - then).max()) if now.shape == then.shape else np.inf

    model, off = read_part(replay, document, path)
    if not off <= tolerance:
        raise ModelFileError(
            f"{path} gives other probabilities here than where it was saved (difference {off:.2g}). "
            "Do not use it; save the model again with this version."
        )
    return model


def read_part(make: Callable[[dict[str, Any]], Part], content: Any, path: AnyPath) -> Part:
    """Make something of a part of a document; whatever is wrong with it is said in one sentence."""
    try:
        return make(content)
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
