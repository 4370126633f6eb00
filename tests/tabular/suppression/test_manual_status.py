from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.waivers import Waiver, waived_cells
from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.manual_status import (
    ManualRequest,
    ManualStatus,
    apply_manual,
    manual_rows,
    waivers_needed,
)
from tests.golden import golden
from tests.tabular.grids import needs_of
from tests.tabular.tables import tables

TODAY = date(2026, 5, 6)


def firms() -> Cells:
    """Industry "01" and "NA", region A and B; of "01" in A two firms, of "NA" in B none, elsewhere four each."""
    industry, region = Dimension.flat("industry", ["01", "NA"]), Dimension.flat("region", ["A", "B"])
    records = [("01", "A", 60), ("01", "A", 40)]
    records += [(code, place, 50) for code, place in (("01", "B"), ("NA", "A")) for _ in range(4)]
    leaves = np.array([[industry.position[code], region.position[place]] for code, place, _ in records], dtype=np.int32)
    return aggregate([industry, region], leaves, np.arange(len(records)), np.array([value for *_, value in records]))


def row(industry: str, region: str, status: str = "", **more: str) -> dict[str, str]:
    return {"industry": industry, "region": region, "status": status, **more}


def apply(*rows: Mapping[str, str], cells: Cells | None = None, **options: Any) -> ManualRequest:
    cells = cells or firms()
    requirement = needs_of(cells)
    read = manual_rows(rows, [dimension.name for dimension in cells.dimensions], options.pop("decimals", 0))
    return apply_manual(cells, requirement, read, cells.total.astype(np.float64), **options)


def at(industry: str, region: str) -> int:
    cells = firms()
    names = [cells.name(cell) for cell in range(len(cells))]
    return names.index(f"industry {industry}, region {region}")


def test_each_status_does_what_it_says() -> None:
    found = apply(
        row("01", "B", "sensitive"),
        row("NA", "A", "published", cost="7.5"),
        row("Total", "A", "suppress_first"),
        row("01", "Total", "not_secondary"),
        row("Total", "B", cost="0"),
    )
    requirement = found.requirements
    assert np.flatnonzero(requirement.by_rule["a_priori"]).tolist() == [at("01", "B")]
    assert sorted(np.flatnonzero(requirement.sensitive)) == sorted([at("01", "A"), at("01", "B")])
    assert (requirement.lower[at("01", "B")], requirement.upper[at("01", "B")]) == (40, 40)  # 20 % of 200
    assert requirement.upper[at("01", "A")] == 6  # 10 % of 60, untouched
    assert sorted(np.flatnonzero(found.forbidden)) == sorted([at("NA", "A"), at("01", "Total")])
    assert np.flatnonzero(found.preferred).tolist() == [at("Total", "A")]
    assert found.cost[[at("NA", "A"), at("Total", "B"), at("Total", "A")]].tolist() == [7.5, 0, 300]


def test_levels_are_in_the_measures_units_and_only_ever_raise() -> None:
    raised = apply(row("01", "A", lower="1.01", upper="9.001"), row("01", "B", "sensitive", upper="3"), decimals=2)
    requirement, cell = raised.requirements, at("01", "A")
    assert (requirement.lower[cell], requirement.upper[cell]) == (
        100,
        901,
    )  # never below 0: at most the total; rounded up
    assert (requirement.lower[at("01", "B")], requirement.upper[at("01", "B")]) == (0, 300)  # no more than it says
    bare = apply(row("01", "B", "sensitive", lower="0", upper="0")).requirements  # as if none were given: never nothing
    assert (bare.lower[at("01", "B")], bare.upper[at("01", "B")]) == (40, 40)
    lowered = apply(row("01", "A", lower="0", upper="1")).requirements
    assert (lowered.lower[cell], lowered.upper[cell]) == (6, 6)
    safe = apply(row("NA", "A", lower="5", upper="5")).requirements  # a level makes no cell sensitive
    assert safe.upper[at("NA", "A")] == 0


def test_a_sensitive_cell_that_may_be_no_secondary_stays_primary() -> None:
    found = apply(row("01", "A", "not_secondary"))
    assert found.requirements.sensitive[at("01", "A")]
    assert not found.forbidden.any()


@given(tables(), st.randoms())
def test_whatever_is_stated_no_rule_is_weakened(cells: Cells, random: Any) -> None:
    requirement = needs_of(cells)
    names = [dimension.name for dimension in cells.dimensions]
    rows = []
    for cell in random.sample(range(len(cells)), min(6, len(cells))):
        choices = [status for status in ManualStatus if status != "published" or not requirement.sensitive[cell]]
        codes = [d.codes[cells.codes[cell, axis]] for axis, d in enumerate(cells.dimensions)]
        level = str(random.choice(["", 0, 5, 10**6]))
        rows.append(dict(zip(names, codes, strict=True)) | {"status": random.choice(choices), "upper": level})
    found = apply(*rows, cells=cells)
    assert not (requirement.sensitive & ~found.requirements.sensitive).any()
    assert (found.requirements.lower >= requirement.lower).all()
    assert (found.requirements.upper >= requirement.upper).all()
    assert (found.requirements.lower <= cells.total).all()
    assert not (found.forbidden & found.requirements.sensitive).any()
    nothing = apply(cells=cells)
    assert not (nothing.forbidden.any())
    assert not (nothing.preferred.any())
    assert not (nothing.requirements.by_rule["a_priori"].any())


def test_published_on_a_sensitive_cell_is_refused_by_its_codes() -> None:
    with pytest.raises(DataError) as refusal:
        apply(row("NA", "A", "published"), row("01", "A", "published"))
    golden(refusal.value)
    half = {("p_percent", "industry 01, region A")}
    with golden.raises(DataError):
        apply(row("01", "A", "published"), waived=half)


def test_waivers_of_every_rule_publish_it_and_stay_visible() -> None:
    cells = firms()
    rows = manual_rows([row("01", "A", "published"), row("NA", "A", "published")], ["industry", "region"])
    needed = waivers_needed(cells, needs_of(cells), rows)
    name = "industry 01, region A"
    assert needed == [("minimum_frequency", name), ("p_percent", name)]
    granted = {
        "scope": name,
        "reason": "both firms agreed in writing",
        "owner": "mina",
        "granted": TODAY,
        "expires": date(2026, 12, 31),
    }
    waivers = [Waiver.model_validate({"rule": rule, **granted}) for rule in ("minimum_frequency", "p_percent")]
    findings, waived = waived_cells(needed, waivers, "turnover", TODAY)
    assert waived == set(needed)
    assert all("mina until 2026-12-31: both firms agreed" in (finding.waiver or "") for finding in findings)
    found = apply(row("01", "A", "published"), waived=waived)
    cell = at("01", "A")
    assert found.forbidden[cell]
    assert not found.requirements.sensitive[cell]
    assert found.requirements.upper[cell] == 0
    assert found.requirements.by_rule["p_percent"][cell]  # what it was is still told
    for kept, today, submitter in ((waivers[:1], TODAY, ""), (waivers, date(2027, 1, 1), ""), (waivers, TODAY, "Mina")):
        _, fewer = waived_cells(needed, kept, "turnover", today, submitter)
        with golden.raises(DataError):
            apply(row("01", "A", "published"), waived=fewer)


@pytest.mark.parametrize(
    "rows",
    [
        [row("01", "A", "publish")],
        [row("01", "A"), row("1", "A")],
        [row("NA", "B", "sensitive")],
        [row("01", "A"), row("01", "A")],
        [row("01", "A", upper="-3")],
        [row("01", "A", cost="1,5")],
        [row("01", "A", uper="3")],
        [{"industri": "01", "region": "A", "status": ""}],
    ],
)
def test_refusals(rows: list[dict[str, str]]) -> None:
    with golden.raises(DataError):
        apply(*rows)


def test_a_withheld_marginal_is_not_published_by_hand() -> None:
    cells = firms()
    cells.published[at("Total", "A")] = False
    with golden.raises(DataError):
        apply(row("Total", "A", "published"), cells=cells)
