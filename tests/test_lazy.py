import sys
from types import ModuleType

import pytest

from calibrant import _lazy


@pytest.fixture
def package(monkeypatch):
    """The package xml, as if it were empty, with two of its names and one of its modules attached."""
    import xml

    module = ModuleType("xml")
    module.__path__ = xml.__path__
    monkeypatch.setitem(sys.modules, "xml", module)
    home = {"sax": "xml", "Element": "xml.etree.ElementTree", "fromstring": "xml.etree.ElementTree"}
    aliases = {"tostring": "xml.etree.ElementTree"}
    module.__getattr__, module.__dir__, module.__all__ = _lazy.attach("xml", home, aliases)
    return module


def test_a_name_is_imported_when_it_is_used_and_then_kept(package):
    assert "Element" not in vars(package)
    assert package.Element("a").tag == "a"
    assert vars(package)["Element"] is package.Element
    assert package.sax is sys.modules["xml.sax"]


def test_all_names_are_listed(package):
    assert package.__all__ == ["Element", "fromstring", "sax"]
    assert {"Element", "fromstring", "sax", "__path__"} <= set(dir(package))


def test_an_alias_is_found_and_not_listed(package):
    assert "tostring" not in [*package.__all__, *dir(package)]
    assert package.tostring(package.Element("a")) == b"<a />"


def test_the_stub_is_the_list_of_names(tmp_path):
    stub = "from calibrant import errors as errors\nfrom calibrant.tally import Tally as Tally\n# Aliases\n"
    (tmp_path / "__init__.pyi").write_text(stub + "from calibrant.tally import row_count as row_count\n")
    get, _, listed = _lazy.attach_stub("calibrant", str(tmp_path / "__init__.py"))
    assert listed == ["Tally", "errors"]
    assert get("row_count")(2.0) == "2"


def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match="module 'xml' has no attribute 'nonsense'"):
        _ = package.nonsense
