"""Footers of Parquet files: read, written back byte for byte, and refused where they are damaged."""

import io

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.cli import footers
from calibrant.cli.footers import read_footer, write_footer

TABLE = pa.table(
    {
        "id": list(range(40)),
        "words": [["a", None], None, [], ["b"]] * 10,
        "pair": [{"x": 1, "y": b"\0"}, None] * 20,
        "flag": [True, False, None, True] * 10,
    }
)


def by_arrow(path, **options):
    pq.write_table(TABLE, path, row_group_size=7, **options)


WRITERS = {
    "arrow": by_arrow,
    "arrow with indexes": lambda path: by_arrow(path, write_page_index=True, version="1.0", store_schema=False),
    "duckdb": lambda path: duckdb.from_arrow(TABLE).write_parquet(str(path)),
    "polars": lambda path: pl.from_arrow(TABLE).write_parquet(path),
}


def in_file(data):
    """The bytes of a footer as the end of a file."""
    return io.BytesIO(b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1")


def test_a_footer_that_was_written_by_hand():
    # Field 1: 32-bit integer -3 (zigzag 5); field 4: list of two strings; field 20, by its number: true.
    data = bytes([0x15, 5, 0x39, 0x28, 1, ord("a"), 2, ord("b"), ord("c"), 0x01, 40, 0])
    footer, start = read_footer(in_file(data))
    assert start == 4
    assert footer == {
        1: (footers.I32, -3),
        4: (footers.LIST, (footers.BINARY, [b"a", b"bc"])),
        20: (footers.TRUE, None),
    }


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_read_is_written_back_byte_for_byte(tmp_path, writer):
    path = tmp_path / "data.parquet"
    WRITERS[writer](path)
    whole = path.read_bytes()
    with path.open("r+b") as file:
        footer, start = read_footer(file)
        file.seek(start)
        write_footer(file, footer)
    assert path.read_bytes() == whole
    assert footer[3] == (footers.I64, 40)  # rows


def test_a_shorter_footer_ends_the_file():
    file = in_file(bytes([0x18, 3, 1, 2, 3, 0]))
    file.seek(4)
    write_footer(file, {})
    assert file.getvalue() == b"PAR1" + b"\0" + b"\1\0\0\0" + b"PAR1"


plain = st.one_of(
    st.tuples(st.sampled_from([footers.I16, footers.I32, footers.I64]), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just(footers.BINARY), st.binary(max_size=200)),
    st.tuples(st.just(footers.DOUBLE), st.binary(min_size=8, max_size=8)),
    st.tuples(st.just(footers.BYTE), st.binary(min_size=1, max_size=1)),
    st.tuples(st.sampled_from([footers.TRUE, footers.FALSE]), st.none()),
)


def nested(values):
    structs = st.dictionaries(st.integers(1, 300), values, max_size=6)
    return st.one_of(
        st.tuples(st.just(footers.STRUCT), structs),
        st.tuples(st.just(footers.LIST), st.tuples(st.just(footers.STRUCT), st.lists(structs, max_size=20))),
        st.tuples(st.just(footers.SET), st.tuples(st.just(footers.I64), st.lists(st.integers(-9, 9), max_size=20))),
        st.tuples(
            st.just(footers.MAP),
            st.lists(st.tuples(st.binary(max_size=3), structs), min_size=1, max_size=3).map(
                lambda entries: (footers.BINARY, footers.STRUCT, entries)
            ),
        ),
    )


@settings(max_examples=40)
@given(st.dictionaries(st.integers(1, 300), st.recursive(plain, nested, max_leaves=8), max_size=5))
def test_any_structure_survives(footer):
    file = io.BytesIO()
    file.write(b"PAR1")
    write_footer(file, footer)
    assert read_footer(file) == (footer, 4)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1",
        b"PAR1" + b"\0" * 8,
        in_file(b"\x15").getvalue(),  # an integer without its value
        in_file(b"\x18\x05ab\0").getvalue(),  # two bytes where five are promised
        in_file(b"\x1f\0").getvalue(),  # a kind that does not exist
        in_file(b"\x1c" * 100_000).getvalue(),  # structures without end
        b"PAR1" + b"\0" + b"\xff\xff\xff\x7f" + b"PAR1",  # a footer longer than the file
        b"PARE" + b"\0" + b"\1\0\0\0" + b"PARE",  # encrypted
    ],
)
def test_damaged_footers_are_refused(content):
    with pytest.raises(ValueError, match="footer"):
        read_footer(io.BytesIO(content))
