"""The directive `command`: what a command of the command line does, takes and offers, read from the program itself."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Command(SphinxDirective):
    """The help text of one command as a paragraph, its usage and a table of its parameters."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """Make the nodes."""
        from typer.main import get_command

        from calibrant.cli.app import app

        program: Any = get_command(app)
        command = program.commands[self.arguments[0]]
        arguments = [_name(one) for one in command.params if one.param_type_name == "argument"]
        usage = " ".join(["calibrant", command.name, *arguments, "[OPTIONS]"])
        return [
            nodes.paragraph("", "", *_inline(command.help)),
            nodes.literal_block(usage, usage, language="text"),
            table([(_name(one), _help(one)) for one in command.params]),
        ]


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).upper()
    return ", ".join(sorted(parameter.opts, key=len))


def _help(parameter: Any) -> str:
    shown = parameter.default is not None and parameter.default is not False
    return (parameter.help or "") + (f" Default: {parameter.default}." if shown else "")


def _inline(text: str) -> list[nodes.Node]:
    """The text, with what stands between backticks as a literal."""
    parts = text.replace("\n", " ").split("`")
    return [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts) if part]


def table(rows: list[tuple[str, str]]) -> nodes.Node:
    """Two columns: a literal and a text."""
    body = nodes.tbody()
    for left, right in rows:
        cells = [nodes.entry("", nodes.paragraph("", "", nodes.literal("", left)))]
        cells.append(nodes.entry("", nodes.paragraph("", "", *_inline(right))))
        body += nodes.row("", *cells)
    group = nodes.tgroup("", nodes.colspec(colwidth=30), nodes.colspec(colwidth=70), body, cols=2)
    return nodes.table("", group)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command", Command)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
