"""Every text of the page is used, and every use gives exactly the facts that the text has places for."""

import ast
from pathlib import Path
from string import Formatter

import pytest

import calibrant
from calibrant.report.texts import TEXTS, say

TABLES = {"words"}  # which no sentence takes as a whole
PACKAGE = Path(calibrant.__file__).parent


def literals(node):
    """The texts that an argument can be."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) | literals(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) else set()


def uses():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                yield path.name, node


def places(text):
    return {name.partition(".")[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_every_use_has_its_text_and_fills_it():
    for path, call in uses():
        facts = {word.arg for word in call.keywords if word.arg is not None}
        spread = any(word.arg is None for word in call.keywords)
        for section in literals(call.args[0]):
            for name in literals(call.args[1]):
                needed = places(TEXTS[section][name])
                assert needed == facts or spread or needed < facts, (path, section, name)


def test_every_fact_has_its_place():
    for path, call in uses():
        texts = [TEXTS[s][n] for s in literals(call.args[0]) for n in literals(call.args[1])]
        facts = {word.arg for word in call.keywords if word.arg is not None}
        assert not texts or facts <= set().union(*map(places, texts)), (path, ast.unparse(call))


def test_every_text_is_used():
    said = {(s, n) for _, call in uses() for s in literals(call.args[0]) for n in literals(call.args[1])}
    named = {s for _, call in uses() if not literals(call.args[1]) for s in literals(call.args[0])}
    rest = {(s, n) for s, texts in TEXTS.items() if s not in TABLES | named for n in texts}
    assert rest == said - {(s, n) for s, n in said if s in named}


def test_a_place_without_a_fact_raises():
    with pytest.raises(KeyError, match="methods"):
        say("methods", "alt")
