"""The layout of the dumps: header, offsets in runes, padding, ends of lines."""

from __future__ import annotations

import pytest

from apftop.parse.table import Cutter, Misaligned, read_table, split_plain
from apftop.records.parsed import ParseError

HEADER = "PriorityLevelName, UserName,   Name,   SubResource"


def cut_line(line: str) -> list[str]:
    return Cutter(read_table(f"{HEADER}\n".encode()).offsets).cut(line)


def test_header_gives_columns_and_their_offsets() -> None:
    table = read_table(f"{HEADER}\n".encode())
    assert table.columns == ("PriorityLevelName", "UserName", "Name", "SubResource")
    assert table.offsets == (0, 19, 31, 39)


def test_cells_keep_commas_quotes_and_blanks_inside_and_at_their_ends() -> None:
    assert cut_line('"a,b",             x  y , z,   ,       status') == ['"a,b"', "x  y , z", "", "status"]


def test_a_cell_that_ends_in_a_comma_keeps_it() -> None:
    assert cut_line("a,                 b,,         c,      ") == ["a", "b,", "c", ""]


def test_a_row_may_have_lost_the_blanks_at_its_end() -> None:
    assert cut_line("a,                 b,          c,") == ["a", "b", "c", ""]


def test_a_row_cut_before_its_last_comma_is_misaligned() -> None:
    with pytest.raises(Misaligned, match="no comma"):
        cut_line("a,                 b,          c")


def test_a_cell_as_wide_as_its_column_is_misaligned() -> None:
    with pytest.raises(Misaligned):
        cut_line("a,                 bbbbbbbbbbb,c,      d")


def test_offsets_count_runes_not_bytes() -> None:
    assert cut_line("björk,             日本𝔘,        c,      d") == ["björk", "日本𝔘", "c", "d"]


def test_a_byte_that_is_not_utf8_is_one_rune_and_is_kept() -> None:
    table = read_table(HEADER.encode() + b"\na\xff\xe6\x97,              b,          c,      d\n")
    cell = Cutter(table.offsets).cut(table.lines[0])[0]
    assert cell.encode("utf-8", "surrogateescape") == b"a\xff\xe6\x97"


def test_only_newlines_end_lines() -> None:
    assert read_table(f"{HEADER}\na\x0cb\x85c\u2028d\re\n".encode()).lines == ("a\x0cb\x85c\u2028d\re",)


def test_carriage_returns_of_a_converted_file_go() -> None:
    table = read_table(f"{HEADER}\r\na, b\r\n\r\n".encode())
    assert table.columns[-1] == "SubResource"
    assert table.lines == ("a, b", "")


def test_a_byte_order_mark_does_no_harm() -> None:
    assert read_table(b"\xef\xbb\xbf" + HEADER.encode() + b"\n").columns[0] == "PriorityLevelName"


def test_utf16_of_a_redirected_shell_is_read() -> None:
    assert read_table(f"\ufeff{HEADER}\n".encode("utf-16-le")).offsets == (0, 19, 31, 39)


def test_lines_are_numbered_from_the_first_of_the_body() -> None:
    assert read_table(f"\n{HEADER}\nrow\n".encode()).first == 3


@pytest.mark.parametrize(("end", "unfinished"), [("\n", False), ("", True)])
def test_a_missing_final_newline_is_told(end: str, unfinished: bool) -> None:
    assert read_table(f"{HEADER}\nrow{end}".encode()).unfinished is unfinished


@pytest.mark.parametrize("body", [b"", b"\n \n"])
def test_an_empty_body_is_refused(body: bytes) -> None:
    with pytest.raises(ParseError, match="empty"):
        read_table(body)


@pytest.mark.parametrize("line", ["404 page not found", '{"kind": "Status"}', "PriorityLevelName,", "a,b,c"])
def test_what_is_no_header_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(ParseError, match="line 1 is not the header"):
        read_table(line.encode())


def test_equal_cells_share_one_string() -> None:
    cutter = Cutter((0, 8))
    assert cutter.cut("alpha,  1")[0] is cutter.cut("alpha,  2")[0]


def test_plain_split_takes_any_padding() -> None:
    assert split_plain("a,b,\t c ,", 4) == ["a", "b", "c", ""]


def test_plain_split_refuses_another_number_of_cells() -> None:
    with pytest.raises(Misaligned, match="3 cells under 2 columns"):
        split_plain("a, b, c", 2)
