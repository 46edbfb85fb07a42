"""Pictures of the pages, drawn by the pages' own code each time the documentation is built.

A page whose Python blocks call `savefig("name.png")` shows `name.png` beside itself. The file is not kept in the
repository, so it cannot show another figure than the code above it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SAVED = re.compile(r'savefig\("([\w-]+\.png)"')
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is the current one; pages write their files into it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def draw_pictures(app: Sphinx) -> None:
    """Run the pages that save pictures, and put those beside the pages."""
    for page in sorted(Path(app.srcdir).glob("howto/*.md")):
        text = page.read_text(encoding="utf-8")
        names = SAVED.findall(text)
        if not names:
            continue
        with temporary_folder() as folder, contextlib.redirect_stdout(None):
            variables: dict[str, Any] = {"__name__": "__main__"}
            blocks = PYTHON.findall(text)
            while not SAVED.search(blocks[-1]):  # the tests run all of the page; a picture needs what is above it
                del blocks[-1]
            for code in blocks:
                exec(compile(code, str(page), "exec"), variables)
            for name in names:
                shutil.copyfile(folder / name, page.parent / name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw before the pages are read."""
    app.connect("builder-inited", draw_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
