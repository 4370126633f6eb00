"""Published intervals and synthetic values bound suppressed cells no further than their sums do."""

import csv
import io

import numpy as np
import pytest

import sluice
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from tests.reader.generate import drawn
from tests.reader.judge import Truth, successes
from tests.reader.play import MAGNITUDES, fewer_than
from tests.reader.published import Hierarchy, read_tables
from tests.reader.solve import UNBOUNDED, suppressed

SHAPES: list[dict[str, tuple[int, ...]]] = [{"a": (4,), "b": (4,)}, {"a": (2, 3), "b": (3,)}, {"a": (3,), "b": (3,)}]


@pytest.mark.parametrize("counts", [True, False])
def test_intervals_tell_nobody_more(counts: bool) -> None:
    sensitive = 0
    for seed in range(8 if counts else 14):
        records, rows = drawn(seed, SHAPES[seed % 3], 40, firms=None if counts else 40)
        rules, measure = (fewer_than(3), {}) if counts else (MAGNITUDES, {"value": "value", "contributor": "firm"})
        try:
            made = sluice.protect(
                records,
                {name: dict(tree) for name, tree in rows.items()},
                rules=rules,
                method={"method": "suppression", "intervals": True, "synthetic": True},
                **measure,
            )
        except DataError:
            continue  # nothing bounds some cell: no interval is published
        assert made.verdict is Verdict.PASS
        hierarchies, text = [Hierarchy.of(name, tree) for name, tree in rows.items()], made.pattern.to_csv(index=False)
        published = read_tables([text], hierarchies)
        told = {tuple(row[h.name] for h in hierarchies): row for row in csv.DictReader(io.StringIO(text))}
        low, high = np.zeros(len(published.cells), dtype=np.int64), np.full(len(published.cells), UNBOUNDED)
        for at in np.flatnonzero(suppressed(published)):
            row = told[published.cells[at]]
            low[at], high[at] = int(float(row["lower"])), int(float(row["upper"]))
            assert low[at] <= float(row["synthetic"]) <= high[at]
        found = successes(published, Truth(records, hierarchies, rules, *measure.values()), known=(low, high))
        sensitive += found.sensitive
        assert found.found == {}
    assert sensitive > 20
