"""Lines of a CSV (RFC 4180), of columns of texts."""

import pyarrow as pa
import pyarrow.compute as pc

_TEXT = pa.large_string()  # a line may be long
_COMMA, _LINE_END, _NOTHING = (pa.scalar(text, _TEXT) for text in (",", "\r\n", ""))
_EMPTY = pa.scalar('""', _TEXT)  # a line without a sign would be no record


def csv_texts(texts: pa.Array) -> pa.Array:
    """These texts as they stand in a CSV: in quotes where they hold a comma, a quote or the end of a line."""
    to_quote = pc.fill_null(pc.match_substring_regex(texts, r'[,"\r\n]'), False)
    if not pc.any(to_quote).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(to_quote, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


def csv_lines(columns: list[pa.Array]) -> pa.Buffer:
    """The records of columns of such texts, a line each, in UTF-8; a missing one is an empty cell."""
    cells = [column.cast(_TEXT) for column in columns]
    lines = pc.binary_join_element_wise(*cells, _COMMA, null_handling="replace", null_replacement="")
    if len(columns) == 1:
        lines = pc.if_else(pc.equal(lines, _NOTHING), _EMPTY, lines)
    lines = pc.binary_join_element_wise(lines, _LINE_END, _NOTHING)
    *_, signs = lines.buffers()
    return signs.slice(0, pc.sum(pc.binary_length(lines)).as_py() or 0)
