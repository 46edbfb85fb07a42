"""Formulas as MathML, which browsers draw by themselves: pages need no network and no script."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def mathml(node: nodes.Element, latex: str, *, block: bool) -> str:
    """The formula as an HTML element; LaTeX that docutils does not know is a warning, and so fails the build."""
    try:
        known = re.sub(r"\\dots\b", r"\\ldots", latex)  # the one usual command that docutils lacks
        return str(latex2mathml.tex2mathml(known, as_block=block))
    except MathError as error:
        logger.warning("formula not understood: %s in %r", error, latex, location=node)
        return f"<code>{latex}</code>"


def inline(self: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node, node.astext(), block=False))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.Element) -> None:
    """Write a displayed formula, with its number where it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(mathml(node, node.astext().strip(), block=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register as the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
