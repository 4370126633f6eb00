from fractions import Fraction
from io import BytesIO

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.publication.pattern_file import read_pattern
from sluice.publication.published_table import in_decimals, published_table
from sluice.publication.published_table_files import to_csv
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.tabular.tables import tables


def frame_of(content: bytes) -> pd.DataFrame:
    return pd.read_csv(BytesIO(content), dtype=str, keep_default_na=False)


@given(tables(), st.randoms(use_true_random=False))
def test_what_is_written_is_read_and_no_more(cells: Cells, random: "np.random.Generator") -> None:
    status = np.array([random.choice([0, 0, 1, 2]) for _ in range(len(cells))], dtype=np.uint8)
    tell = random.choice([True, False])
    names = [dimension.name for dimension in cells.dimensions]
    frame = frame_of(to_csv(published_table(cells, status, "", names, tell_primary=tell)))
    suppressed = status != Status.PUBLISHED
    assert (frame.loc[suppressed, "value"] == "").all()
    assert "contributors" not in frame
    if suppressed.all():
        return
    read = read_pattern(frame, cells.dimensions)
    assert np.array_equal(read.codes, cells.codes)
    assert np.array_equal(read.status, status if read.tells_primary else np.where(suppressed, Status.PRIMARY, 0))
    assert read.tells_primary == (tell or not suppressed.any())
    assert {read.word(cell) for cell in np.flatnonzero(suppressed)} <= (
        {"primary", "secondary"} if tell else {"suppressed"}
    )
    assert np.array_equal(read.has, ~suppressed)
    assert np.array_equal(read.value[read.has], cells.total[~suppressed])
    assert [read.name(cell) for cell in range(len(read))] == [cells.name(cell) for cell in range(len(cells))]


@given(st.integers(-(10**15), 10**15), st.integers(0, 6))
def test_decimals_are_exact(units: int, decimals: int) -> None:
    text = in_decimals(units, decimals)
    assert Fraction(text) == Fraction(units, 10**decimals)
    assert len(text.partition(".")[2]) == decimals


def test_withheld_cells_have_no_place_in_the_file() -> None:
    flat = Dimension.flat("a", ["x"])
    frame = frame_of(b"a,status,value\nTotal,published,3\nx,withheld,\n")
    with golden.raises(DataError):
        read_pattern(frame, [flat])


def test_one_word_or_two_but_not_both() -> None:
    frame = frame_of(b"a,status,value\nTotal,suppressed,\nx,primary,\n")
    with golden.raises(DataError):
        read_pattern(frame, [Dimension.flat("a", ["x"])])
