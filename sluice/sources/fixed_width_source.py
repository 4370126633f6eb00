"""A text whose columns stand at fixed places, which a layout says."""

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator

from sluice.ground.errors import DataError
from sluice.ground.visible_text import Name
from sluice.sources.csv_source import known_encoding
from sluice.sources.description import Descriptions
from sluice.sources.file_source import FileSource
from sluice.sources.fixed_width_layout import Layout, read_layout
from sluice.sources.packed_file import unpacked
from sluice.sources.tabular_source import mostly_expected


class FixedWidthSource(FileSource):
    """A record a line; each cell without the blanks around it. Numbers are read as they stand: no decimals are implied.

    A gzip file, or a zip archive of one file, is unpacked on the way.
    """

    path_fields: ClassVar[tuple[str, ...]] = ("path", "layout")
    type: Literal["fixed_width"] = "fixed_width"
    layout: Name = Field(description="file that says where the columns stand: of mu-ARGUS (.rda), or a CSV with the "
                         "columns name, start, length, missing, label")  # fmt: skip
    encoding: str = Field(default="utf-8", description="utf-8, latin-1, cp1252, ...")
    decimal: Literal[".", ","] = Field(default=".", description="sign before a number's decimals")

    _known = field_validator("encoding")(known_encoding)

    @property
    def decimal_mark(self) -> str:
        return self.decimal

    def described(self) -> Descriptions:
        return self._layout().described(Path(self.layout).parent)

    def _layout(self) -> Layout:
        layout = read_layout(Path(self.layout))
        if layout.separator:
            raise DataError(f"{self.layout}: is of a file with separators, {layout.separator!r}: name it as type: csv")
        if any(not place.start for place in layout.places):
            raise DataError(f"{self.layout}: a column starts at 0; the first sign of a line is 1")
        return layout

    def _names(self, expected: Sequence[str]) -> list[str]:
        return [place.name for place in self._layout().places]

    def _are_names(self, names: Sequence[str], expected: Sequence[str]) -> bool:
        """What is named as a layout may be a file of records, which some are read as: no cell of it is repeated."""
        return mostly_expected(names, expected)

    def _tables(self, columns: Sequence[str], expected: Sequence[str], size: int) -> Iterator[pa.Table]:
        layout = self._layout()
        by_name = {place.name: place for place in layout.places}
        least, number = max(place.end for place in layout.places), 0
        try:
            with unpacked(Path(self.path), lines=True) as file:
                lines = io.TextIOWrapper(file, encoding="utf-8-sig" if self.encoding == "utf-8" else self.encoding)
                while block := list(islice(lines, size)):
                    texts = pc.utf8_rtrim(pa.array(block, pa.string()), characters="\n")
                    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
                    short = pc.and_not(pc.less(pc.utf8_length(texts), least), blank)
                    if (first := pc.index(short, pa.scalar(True)).as_py()) >= 0:
                        raise DataError(
                            f"{self.path}: line {number + first + 1} has {len(texts[first].as_py())} signs; the layout "
                            f"asks for {least} at least. Is it the layout of this file?"
                        )
                    texts = texts.filter(pc.invert(blank))
                    cells = [pc.utf8_slice_codeunits(texts, by_name[n].start - 1, by_name[n].end) for n in columns]
                    yield pa.table([pc.utf8_trim_whitespace(each) for each in cells], names=list(columns))
                    number += len(block)
        except UnicodeError:
            raise DataError(
                f"{self.path}: is not {self.encoding}, after line {number}. Is it latin-1 or cp1252?"
            ) from None
