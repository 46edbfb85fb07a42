"""Files are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place if all goes well, and else disappears.

    A link stays a link, to a new file. What is no file, such as a pipe or a device, is written to, never replaced.
    """
    target = Path(path).resolve()
    special = target.exists() and not target.is_file()
    folder = None if special else target.parent
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if special:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            return
        # mkstemp makes private files; a saved model has the permissions of any other file.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` beside the target, then move it into place; a failure leaves the old file untouched."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
