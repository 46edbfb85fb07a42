import re
from dataclasses import dataclass

from calibrant._tables import Table, TableResult, html_table


@dataclass
class Costs(TableResult):
    remarks: tuple[str, ...] = ("All of 50 % & more.",)

    def table(self):
        return Table("Costs", ["what", "a_b"], ["first", "first", ""], [["x|y", "1"], ["z", "22"], ["I²", "3"]])


def test_text():
    assert str(Costs()).splitlines() == [
        "Costs",
        "what   a_b",
        "first",
        "  x|y  1",
        "  z    22",
        "  I²   3",
        "- All of 50 % & more.",
    ]


def test_markdown():
    lines = Costs().to_markdown().splitlines()
    assert lines[:2] == ["Costs", ""]
    assert lines[2:8] == [
        "| what | a_b |",
        "| --- | --: |",
        "| **first** |  |",
        "| x\\|y | 1 |",
        "| z | 22 |",
        "| I² | 3 |",
    ]
    assert lines[-1] == "All of 50 % & more."


def test_latex():
    text = Costs(()).to_latex()
    assert text.startswith("\\begin{table}\n\\caption{Costs}\n\\begin{tabular}{lr}\n")
    assert r"what & a\_\allowbreak{}b \\" in text
    assert r"\multicolumn{2}{l}{\textit{first}} \\" in text
    assert "I$^2$ & 3" in text
    assert r"50 \% \& more" in Costs().to_latex()


def test_long_texts_wrap_in_latex():
    class Notes(TableResult):
        remarks = ()

        def table(self):
            return Table("Notes", ["item", "text", "n"], [""], [["1", "a word and another " * 9, "3"]])

    text = Notes().to_latex()
    assert text.startswith("\\begin{longtable}{lp{0.80\\textwidth}r}\n\\caption{Notes} \\\\\n")
    assert text.count(r"\endhead") == text.count(r"\end{longtable}") == 1
    assert "{table}" not in text


def test_minus_signs_in_latex():
    class Ages(TableResult):
        remarks = ()

        def table(self):
            return Table("Ages", ["age", "slope"], [""], [["18-25", "-0.12 (-0.3 to 0.1)"]])

    assert r"18-25 & $-$0.12 ($-$0.3 to 0.1) \\" in Ages().to_latex()


def test_html():
    assert Costs().to_html() == Costs()._repr_html_()
    assert Costs().to_html().endswith("<ul><li>All of 50 % &amp; more.</li></ul>")
    assert "<ul>" not in Costs(()).to_html()


def test_names_of_rows_are_not_as_bold_as_the_headings_of_their_groups():
    html = html_table("", ["measure", "value"], ["proper scores"], [["log-loss", "0.5"]])
    (heading,) = re.findall('<th colspan="2"[^>]*>', html)
    (name,) = re.findall('<th scope="row"[^>]*>', html)
    assert "font-weight" not in heading  # browsers print such a cell in bold
    assert "font-weight: normal" in name
