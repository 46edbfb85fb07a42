"""Files are written whole or not at all."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AnyPath = str | os.PathLike[str]


@contextmanager
def replacing(path: AnyPath) -> Iterator[Path]:
    """Give a path to write to; it takes the target's place if all goes well, and disappears otherwise.

    The new file has the mode of the old one. A link stays a link, to a new file. What is not a file, such as a pipe or
    a device, is written to, never replaced. After a crash a hidden file ``.calibrant-….part`` may be left over.
    """
    target = follow_links(path)
    if target.exists() and not target.is_file():
        with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
            temporary = Path(folder) / "content"
            yield temporary
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        return
    temporary = _create_beside(target)
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: AnyPath) -> Iterator[Path]:
    """Give a folder to make and fill; it gets its name if all goes well, and disappears otherwise."""
    target = follow_links(path)
    if target.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    with tempfile.TemporaryDirectory(prefix=".calibrant-", dir=target.parent) as folder:
        temporary = Path(folder) / "content"
        yield temporary
        temporary.rename(target)


def follow_links(path: AnyPath) -> Path:
    """Return the file that a path leads to; links that lead in a circle are an error."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _create_beside(target: Path) -> Path:
    """Create an empty hidden file in the target's folder, with the mode that the target has or would get."""
    temporary = target.with_name(f".calibrant-{secrets.token_hex(8)}.part")
    try:
        temporary.touch(exist_ok=False)  # the system applies the umask; reading it would change it for other threads
    except OSError as error:  # name what the user named
        raise OSError(error.errno, os.strerror(error.errno or 0), str(target)) from error
    if target.exists():
        shutil.copymode(target, temporary)
    return temporary


def write_atomically(path: AnyPath, text: str) -> None:
    """Write `text` beside the target, then move it into place; a failure leaves the old file untouched."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
