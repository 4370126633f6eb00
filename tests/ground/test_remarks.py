"""What a reading met, as another process writes it: what is none of it is not believed."""

import pytest

from sluice.ground.remarks import Remarks
from tests.golden import golden


def test_what_was_met_goes_from_one_process_to_another() -> None:
    met, taken = Remarks(), Remarks()
    met.add("blanks", "a", 2)
    met.add("beyond_calendar", "b", 1, 18)
    met.add("beyond_calendar", "b", 3, 40)
    met.add("comments", "a", 1)
    met.add("empty_lines", "a", 8)
    taken.take(met.written(), ["a", "b"])
    assert taken.all() == met.all()
    assert [(each.code, each.column, each.count, each.first) for each in met.all()] == [
        ("reading.blanks", "a", 2, 0), ("reading.beyond_calendar", "b", 4, 18),
        ("reading.comments", "a", 1, 0), ("reading.empty_lines", "a", 8, 0),
    ]  # fmt: skip
    golden("\n".join(each.of("visits.sav").says for each in met.all()))


@pytest.mark.parametrize(
    "written",
    [b"", b"\xff", b"{}", b"7", b"[" * 100_000, b'[["a"]]', b'[["other", "a", 1, 1]]', b'[["blanks", "c", 1, 1]]',
     b'[["blanks", "a", "1", 1]]', b'[[["blanks"], "a", 1, 1]]'],
)  # fmt: skip
def test_what_is_none_of_it_is_not_believed(written: bytes) -> None:
    taken = Remarks()
    taken.take(written, ["a"])
    assert not taken
