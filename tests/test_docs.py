"""Every page does what it says: its code runs, its links lead somewhere, its words are spelt right.

CONTRIBUTING.md, section Documentation, says what happens to a block of each language.
"""

import contextlib
import doctest
import gc
import io
import re
import shlex
import sys
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("markdown_it", reason="pages are read with markdown-it-py")
pytest.importorskip("duckdb", reason="pages read tables, which needs the extra tables")
matplotlib = pytest.importorskip("matplotlib", reason="pages draw, which needs the extra plot")

from markdown_it import MarkdownIt  # noqa: E402 - after the checks that it is there

ROOT = Path(__file__).parents[1]
MADE = {"_build", "_gallery", "generated"}  # folders that the build writes
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if not MADE & set(path.parts)),
]
GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.py"))
NOT_RUN = re.compile(r"<!-- not run: .{4,} -->")
NEEDS = re.compile(r"^<!-- needs: ([\w ]+) -->$", re.MULTILINE)  # packages too large for the tests alone
READ_ONLY = {"sh", "sql", "json", "yaml", "toml", "csv", "html", "css", "c", "r"}
FILES = re.compile(r"\b(?:scripts/\w+|(?:benchmarks|src|tests|docs)/[\w/.-]+\.\w+)")
MODULES = re.compile(r"python -m (benchmarks\.\w[\w.]*)")


def name_of(path):
    return path.relative_to(ROOT).as_posix()


# Parsing


@dataclass
class Block:
    language: str
    code: str
    line: int
    follows: bool  # directly below another block, with no text between them


def tokens_of(path):
    return MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))


def blocks_of(path):
    tokens, found = tokens_of(path), []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type != "fence" or token.info.startswith("{"):  # directives are for Sphinx
            continue
        if not (before and before.type == "html_block" and NOT_RUN.match(before.content)):
            follows = before is not None and before.type == "fence"
            found.append(Block((token.info.split() or [""])[0], token.content, token.map[0] + 1, follows))
    return found


BLOCKS = {path: blocks_of(path) for path in PAGES}


# Running


DECIMAL = r"(?<![\w.])[-−]?\d+\.\d*"  # also "0." and "-1.", as numpy prints them
PERCENTAGE = r"(?<![\w.])\d+(?=\s?%)"
PIECES = re.compile(rf"(\.\.\.|{DECIMAL}|{PERCENTAGE}|\s+)")


class Output(doctest.OutputChecker):
    """Compares what is shown with what is got: white space is free, `...` is anything, numbers may differ a little.

    Other processors and versions of libraries change the last digits of what is computed. So decimals and percentages
    are compared as numbers: a difference of one in the last digit shown, or of 5 %, is none. Words and counts stay.
    """

    def check_output(self, want, got, optionflags=0):  # noqa: ARG002 - the base class says so
        pieces = PIECES.split(tidy(want.replace("<BLANKLINE>", "")))
        pieces[::2] = map(re.escape, pieces[::2])  # the words between what PIECES finds
        numbers = [piece for piece in pieces[1::2] if piece != "..." and not piece.isspace()]
        pieces[1::2] = map(self.pattern, pieces[1::2])
        match = re.fullmatch("".join(pieces), tidy(got), re.DOTALL)
        return match is not None and all(map(agree, numbers, match.groups()))

    def pattern(self, piece):
        if piece == "...":
            return ".*?"
        return r"\s+" if piece.isspace() else r"([-−]?\d+(?:\.\d*)?)"


def tidy(text):
    """Without the spaces that numpy puts between a short number and the next comma or bracket."""
    return re.sub(r"(?<=\[)\s+|\s+(?=[],])", "", text.strip())


def agree(shown, got):
    a, b = (float(number.replace("−", "-")) for number in (shown, got))
    last_digit = 10.0 ** -len(shown.partition(".")[2])
    return abs(a - b) <= 1.001 * last_digit + 0.003 + 0.05 * abs(a)


@pytest.mark.parametrize(
    ("shown", "got", "same"),
    [
        ("log-loss 0.3835 [0.3369, 0.4177]", "log-loss  0.3836 [0.3350, 0.4181]", True),
        ("log-loss 0.3835", "log-loss 0.4835", False),
        ("log-loss 0.3835", "Brier 0.3835", False),
        ("about 96 % of it", "about 95 % of it", True),
        ("about 96 % of it", "about 69 % of it", False),
        ("3000 rows", "3001 rows", False),
        ("array([0.  , 0.03])", "array([0.01, 0.03])", True),
        ("[-0.1 0.4 1. ]", "[0. 0.4 0.9]", True),
        ("first\n...\nlast", "first\nmore\nlast", True),
        ("first\n...\nlast", "first\nmore", False),
        ("smECE of D1, version 1.0.3", "smECE of D1, version 1.0.2", False),
    ],
)
def test_output_is_compared_by_its_words_and_numbers(shown, got, same):
    assert Output().check_output(shown, got) is same


class Page:
    """Runs the blocks of a page one after the other, with one set of variables."""

    def __init__(self, path):
        self.path = path
        self.names = {"__name__": "__main__"}
        self.printed = None

    def run(self, block):
        getattr(self, block.language)(block)
        if block.language != "python":
            self.printed = None

    def python(self, block):
        screen = io.StringIO()
        with contextlib.redirect_stdout(screen):
            exec(compile("\n" * block.line + block.code, str(self.path), "exec"), self.names)
        self.printed = screen.getvalue()

    def text(self, block):
        """What the block above it printed, if there is one."""
        if block.follows and self.printed is not None and not Output().check_output(block.code, self.printed):
            pytest.fail(f"{name_of(self.path)}:{block.line}: shown:\n{block.code}\ngot:\n{self.printed}")

    def pycon(self, block):
        test = doctest.DocTestParser().get_doctest(block.code, self.names, self.path.name, str(self.path), block.line)
        report = []
        runner = doctest.DocTestRunner(Output(), verbose=False)
        failed = runner.run(test, out=report.append, clear_globs=False).failed
        assert not failed, "".join(report)
        self.names.update(test.globs)

    def console(self, block):
        for command, wanted in commands_of(block):
            words = shlex.split(command)
            assert words[0] == "calibrant", f"{name_of(self.path)}:{block.line}: only calibrant runs here: {command}"
            code, output = run_command(words[1:])
            assert code == 0, f"$ {command}\n{output}"
            if wanted.strip() and not Output().check_output(wanted, output):
                pytest.fail(f"$ {command}\nshown:\n{wanted}\ngot:\n{output}")


def commands_of(block):
    """Pairs of a command and the output that is shown below it."""
    for part in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        yield re.sub(r"\s+# .*", "", command), output


def run_command(arguments):
    """The exit code, and what appears on a screen."""
    from calibrant.cli.app import run

    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", screen)
        if arguments[0] == "report":  # of all methods it has tests of its own
            patch.setattr("calibrant.cli.compare.compared_methods", lambda *_: ["temperature"])
            patch.setattr("calibrant.report.data.RESAMPLES", 10)
            patch.setattr("calibrant.report.part_sections.RESAMPLED_ENTRIES", 0)
        code = run(arguments)
    screen.flush()
    return code, screen.buffer.getvalue().decode("utf-8")


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """A place where pages may write; figures are drawn without a screen, and closed afterwards."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: None)
    with matplotlib.rc_context({"backend": "Agg"}):
        yield tmp_path
    pyplot.close("all")


RUN = {"python", "pycon", "console", "text"}
RUNNABLE = [path for path in PAGES if any(block.language in RUN for block in BLOCKS[path])]


@pytest.mark.parametrize("path", RUNNABLE, ids=name_of)
def test_page_runs(path, empty_folder):
    needs = NEEDS.search(path.read_text(encoding="utf-8"))
    for package in needs[1].split() if needs else ():
        pytest.importorskip(package, reason=f"this page is about {package}")
    page = Page(path)
    for block in BLOCKS[path]:
        if block.language not in READ_ONLY:
            page.run(block)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_block_says_its_language(path):
    known = READ_ONLY | RUN
    unknown = [(block.line, block.language) for block in BLOCKS[path] if block.language not in known]
    assert unknown == []


# Names and links


@pytest.mark.parametrize("path", [*PAGES, *GALLERY], ids=name_of)
def test_files_and_modules_that_a_page_names_exist(path):
    text = path.read_text(encoding="utf-8")
    modules = [ROOT.joinpath(*name.strip(".").split(".")) for name in MODULES.findall(text)]
    files = [ROOT / name.rstrip(".") for name in FILES.findall(text)]
    missing = [m for m in modules if not (m / "__main__.py").exists() and not m.with_suffix(".py").exists()]
    missing += [file for file in files if not file.exists() and not MADE & set(file.parts)]
    assert [name_of(file) for file in missing] == []


def slug(heading):
    """How GitHub and MyST name a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors_of(path):
    tokens = tokens_of(path)
    inlines = [after for token, after in pairwise(tokens) if token.type == "heading_open"]
    headings = {slug("".join(child.content for child in inline.children)) for inline in inlines}
    return headings | set(re.findall(r"^\(([\w-]+)\)=$", path.read_text(encoding="utf-8"), re.MULTILINE))


def links_of(path):
    for token in tokens_of(path):
        for child in token.children or []:
            target = child.attrs.get("href") or child.attrs.get("src")
            if target and not re.match(r"[a-z]+:", target):
                yield target


def source_of(file, page):
    """The file in the repository from which a picture of a page or a page of the gallery is made."""
    if f'savefig("{file.name}"' in page.read_text(encoding="utf-8"):
        return page  # the build draws it with the page's own code
    if "_gallery" not in file.parts:
        return file
    name = "GALLERY_HEADER.rst" if file.stem == "index" else f"{file.stem}.py"
    return ROOT / "docs" / "gallery" / name


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    dead = []
    for target in links_of(path):
        place, _, anchor = target.partition("#")
        file = source_of((path.parent / place).resolve(), path) if place else path
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors_of(file)):
            dead.append(target)
    assert dead == []


def test_pictures_of_pages_are_not_kept():
    """What the build draws would grow old in the repository."""
    kept = {path.name for path in (ROOT / "docs").glob("*.png")}
    assert kept == {"arena.png", "arena-several.png", "report.png"}  # two recorded results, and a photograph


def test_the_photograph_of_the_report_says_what_the_page_says(tmp_path):
    pytest.importorskip("jinja2", reason="the page needs the extra report")
    pictures = pytest.importorskip("benchmarks.pictures_report")
    page = tmp_path / "report.html"
    pictures.write_page(page)
    shown = (ROOT / "docs" / "report.txt").read_text(encoding="utf-8")
    assert Output().check_output(shown, pictures.words(page)), (
        "docs/report.png is old: python -m benchmarks.pictures_report FOLDER makes it and report.txt again"
    )


# Spelling


def prose_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        headings = [re.sub(r"^.. .*$", "", text.split('"""')[1], flags=re.MULTILINE)]
        comments = re.findall(r"^#(?!!) ?(.*)$", text, re.MULTILINE)
        return re.sub(r"`+[^`]*`+(_|__)?|:\w+:", " ", "\n".join([*headings, *comments]))
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`\$[^`]*`|\{[a-z:]+\}`[^`]*`", " ", text, flags=re.DOTALL)
    inlines = [token for token in MarkdownIt("commonmark").enable("table").parse(text) if token.type == "inline"]
    return "\n".join(child.content for inline in inlines for child in inline.children if child.type == "text")


def british():
    """British words that an American dictionary lacks, and the American ones that they replace."""
    codespell = pytest.importorskip("codespell_lib", reason="the spelling needs codespell")
    file = Path(codespell.__file__).parent / "data" / "dictionary_en-GB_to_en-US.txt"
    pairs = [line.split("->") for line in file.read_text(encoding="utf-8").splitlines()]
    american = {word.strip(" ,") for _, words in pairs for word in words.split(",")}
    both = {"license", "practice", "practices", "program", "programs", "routing", "story"}
    return {word for word, _ in pairs}, american - both


@pytest.fixture(scope="module")
def is_right():
    dictionary = pytest.importorskip("spylls.hunspell", reason="the spelling needs spylls").Dictionary
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves closing its files to the garbage collector
        american = dictionary.from_files("en_US")
        gc.collect()
    ours = set((ROOT / "docs" / "spelling.txt").read_text(encoding="utf-8").split())
    ours_british, not_british = british()

    def check(word):
        low = word.lower()
        if word in ours or low in ours:
            return True
        if low in not_british:
            return False
        with_z = re.sub(r"is(e|ed|es|er|ers|ing|ation|ations)$", r"iz\1", low)
        return low in ours_british or american.lookup(word) or american.lookup(with_z)

    return check


@pytest.mark.parametrize("path", [*PAGES, *GALLERY], ids=name_of)
def test_spelling(path, is_right):
    prose = re.sub(r"\w+(\.\w+)+", " ", prose_of(path))  # names such as calibrant.blend
    words = set(re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", prose))
    plain = (word.replace("’", "'") for word in words if len(word) > 1 and not re.search(r".[A-Z]", word))
    wrong = sorted(word for word in plain if not is_right(word) and not is_right(word.removesuffix("'s")))
    assert not wrong, f"not British words: {' '.join(wrong)}; names and terms go to docs/spelling.txt"


@pytest.mark.parametrize("path", [*PAGES, *GALLERY], ids=name_of)
def test_only_public_names_are_imported_from_the_top(path):
    import calibrant

    lists = re.findall(r"^[ >.]*from calibrant import (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    names = {name.strip() for names in lists for name in names.split(",")}
    assert names <= set(calibrant.__all__), "methods other than Blend are in calibrant.calibrators"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/design.md", "docs/howto/add-a-method.md"])
def test_files_of_the_source_exist(page):
    """Those that stand in backticks with their folder, from the root or from the package."""
    named = re.findall(r"`((?:\w+/)+\w*(?:\.py)?)`", (ROOT / page).read_text(encoding="utf-8"))
    assert [name for name in named if not any((root / name).exists() for root in (ROOT, ROOT / "src/calibrant"))] == []


# Tables of the README, the index and the reference


def test_the_reference_lists_every_method():
    from calibrant.calibrators.registry import METHODS

    text = (ROOT / "docs" / "reference" / "methods.md").read_text(encoding="utf-8")
    _, one_score, matrix = text.split("| class | name | description |")
    assert [cls for name, (_, cls) in METHODS["score"].items() if f"| `{cls}` | `{name}` |" not in one_score] == []
    assert [name for name in METHODS["matrix"] if f" | `{name}` |" not in matrix] == []
