"""Turnover and employees of the same firms, with one pattern that is safe for both."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import sluice
from flows.cli.main import main
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.verdict import Verdict
from tasks.release.tables.shared_pattern import judge_parts
from tests.flows.house import answered
from tests.golden import golden

RULES = [{"rule": "p_percent", "p": 10}, {"rule": "minimum_frequency", "n": 3}]
BOTH = ["turnover", "employees"]
DIMENSIONS = ["a", "b"]


@st.composite
def firms(draw: st.DrawFn) -> pd.DataFrame:
    rows = [
        (a, b, draw(st.sampled_from([0, 1, 7, 20, 300])), draw(st.sampled_from([0, 1, 2, 5, 40])))
        for a in "uvw"
        for b in "xyz"
        for _ in range(draw(st.integers(0, 5)))
    ]
    rows += [("u", "x", 5, 5)] * 2
    return pd.DataFrame(rows, columns=[*DIMENSIONS, *BOTH]).assign(firm=lambda frame: frame.index.astype(str))


@pytest.mark.exhaustive  # two protections and audits of each table, and two linear programs a sensitive cell
@given(firms())
def test_no_sensitive_value_of_either_is_computed(records: pd.DataFrame) -> None:
    """By the audit, and by linear programs that know nothing of this project."""
    try:
        made = sluice.protect(records, DIMENSIONS, measures=BOTH, rules=RULES, contributor="firm")
    except DataError:
        return  # it says which cell cannot be protected
    assert all(each.verdict is Verdict.PASS for each in made.findings if each.rule != "measures")
    table = made.pattern
    assert list(table) == [*DIMENSIONS, "status", *BOTH]
    for name, each in made.by_measure.items():
        one = table.assign(value=table[name]).drop(columns=BOTH)
        found = sluice.audit(one, DIMENSIONS, records=records, value=name, rules=RULES, contributor="firm")
        assert found.verdict is Verdict.PASS, found.breaches
        cells = each.tabulated.cells
        hidden = each.cells["status"].ne("published").to_numpy()
        assert np.array_equal(hidden, table[name].isna())
        known = np.where(hidden | (cells.total == 0), 0, cells.total)
        free = hidden & (each.requirements.sensitive | (cells.total > 0))
        sums = cells.equations.toarray()
        for cell in np.flatnonzero(each.requirements.sensitive & (cells.total > 0)):
            ends = [
                linprog(
                    side * np.eye(len(known))[cell],
                    A_eq=sums,
                    b_eq=np.zeros(len(sums)),
                    bounds=[(0, None) if open_ else (value, value) for open_, value in zip(free, known, strict=True)],
                )
                for side in (1, -1)
            ]
            low, high = ends[0].fun, -ends[1].fun if ends[1].status == 0 else np.inf
            assert low <= cells.total[cell] - each.requirements.lower[cell] + 1e-6
            assert high >= cells.total[cell] + each.requirements.upper[cell] - 1e-6


def test_each_measure_may_have_rules_of_its_own(tmp_path: Path) -> None:
    """Sensitive by its own rules alone, and suppressed of both; as if it were protected alone, where the other asks
    nothing."""
    rng = np.random.default_rng(5)
    records = pd.DataFrame({axis: rng.choice(list(codes), 120) for axis, codes in (("a", "uvw"), ("b", "xyz"))})
    records = records.assign(turnover=np.ceil(rng.lognormal(4, 1.5, 120)), employees=rng.integers(1, 9, 120))
    records["firm"] = records.index.astype(str)
    strict, lax = {"rule": "dominance", "n": 1, "k": 40}, {"rule": "minimum_frequency", "n": 2}
    made = sluice.protect(
        records, DIMENSIONS, measures=BOTH, rules={"turnover": strict, "employees": [lax]}, contributor="firm"
    )
    told = {name: set(each.summary()["sensitive"]) for name, each in made.by_measure.items()}
    assert told == {"turnover": {"dominance"}, "employees": {"minimum_frequency"}}
    alone = sluice.protect(records, DIMENSIONS, value="turnover", rules=strict, contributor="firm")
    assert made.sensitive == alone.sensitive > 0
    assert made.verdict is Verdict.PASS
    records.to_csv(tmp_path / "firms.csv", index=False)
    command = ["protect-table", str(tmp_path / "firms.csv"), "--hierarchy=a", "--hierarchy=b", "--contributor=firm"]
    command += ["--value=turnover", "--value=employees", f"-o{tmp_path / 'out.csv'}"]
    own = ["--rule=turnover:dominance=1,40", "--rule=employees:minimum_frequency=2"]
    told = answered([*command, *own, "--json"]).json
    assert (told["primary"], told["secondary"]) == (made.primary, made.secondary)
    golden.words(answered([*command, own[0]], 1).err)
    golden.words(answered([*command, "--rule=turnovr:dominance=1,40"], 1).err)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    records = pd.DataFrame(
        [(a, b, f"f{a}{b}{n}") for a in "uvwx" for b in "pqr" for n in range(rng.integers(1, 7))],
        columns=[*DIMENSIONS, "firm"],
    )
    records["turnover"] = rng.lognormal(5, 1.5, len(records)).round(1)
    records["employees"] = rng.integers(1, 60, len(records))
    records.to_csv(tmp_path / "firms.csv", index=False)
    return tmp_path


OPTIONS = ["--hierarchy=a", "--hierarchy=b", "--contributor=firm", "--rule=p_percent=10", "--rule=minimum_frequency=3"]


def protect(folder: Path, *more: str) -> list[str]:
    return ["protect-table", str(folder / "firms.csv"), *OPTIONS, "--value=turnover", "--value=employees", *more]


def test_a_file_has_a_column_of_each_and_audits_of_both_find_it_safe(folder: Path) -> None:
    told = answered(protect(folder, f"-o{folder / 'both.csv'}", "--json")).json
    assert told["safe"]
    made = pd.read_csv(folder / "both.csv")
    assert made["turnover"].isna().equals(made["employees"].isna())
    assert told["primary"] + told["secondary"] == made["turnover"].isna().sum()
    records = pd.read_csv(folder / "firms.csv")
    ours = sluice.protect(records, DIMENSIONS, measures=BOTH, rules=RULES, contributor="firm")
    assert (ours.verdict, ours.primary, ours.secondary) == (Verdict.PASS, told["primary"], told["secondary"])
    assert (
        ours.attacks == ours.attacks_decided == sum(each["attacks"]["attempted"] for each in told["measures"].values())
    )
    assert ours.pattern["turnover"].isna().equals(made["turnover"].isna())
    single = {}
    for name in BOTH:
        audit = ["audit-table", str(folder / "both.csv"), f"--cells-value={name}", *OPTIONS, f"--value={name}"]
        assert main([*audit, f"--microdata={folder / 'firms.csv'}"]) == 0
        one = [each for each in protect(folder, f"-o{folder / name}.csv") if not each.startswith("--value=")]
        assert main([*one, f"--value={name}"]) == 0
        single[name] = pd.read_csv(folder / f"{name}.csv")["value"].isna()
        assert told["measures"][name]["sensitive"]["minimum_frequency"] > 0
    assert not single["turnover"].equals(single["employees"])  # so there was something to bring together


def test_linked_tables_are_files_with_both(folder: Path) -> None:
    (folder / "out").mkdir()
    assert main(protect(folder, "--table=a,b", "--table=a", f"-o{folder / 'out'}")) == 0
    assert list(pd.read_csv(folder / "out" / "a.csv")) == ["a", "status", *BOTH]


@pytest.mark.parametrize(
    "given",
    [
        {"measures": ["turnover"]},
        {"measures": ["turnover", "turnover"]},
        {"value": "turnover"},
        {"method": {"method": "controlled_rounding", "base": 5}},
        {"method": {"method": "suppression", "intervals": True}},
        {"a_priori": [{"a": "u", "b": "p", "status": "sensitive", "lower": 3, "upper": 3}]},
        {"measures": ["turnover", "status"]},
        {"measures": ["turnover", "staff"]},
        {"measures": ["turnover", "gap"], "measure": {"missing": "leave_out"}},
        {"previous": pd.DataFrame({"a": ["u"], "b": ["p"], "status": ["published"], "value": [3]})},
    ],
)
def test_what_a_common_pattern_cannot_have_is_refused(folder: Path, given: dict[str, Any]) -> None:
    records = pd.read_csv(folder / "firms.csv").assign(
        status=1, gap=lambda frame: frame["turnover"].where(frame["a"] != "u")
    )
    given = {"measures": BOTH, **given}
    with golden.raises(SluiceError):
        sluice.protect(records, DIMENSIONS, rules=RULES, contributor="firm", **given)


def test_where_one_measure_alone_is_looked_at_several_are_refused(folder: Path) -> None:
    written = ["redesign-table", str(folder / "firms.csv"), *OPTIONS, "--set=measures=[turnover, employees]"]
    golden.words(answered(written, 1).err)


def exporters() -> pd.DataFrame:
    """No firm of u exports, and those of v do nothing else: exports beside turnover tell that of u at x."""
    rows = []
    for a, b in [(a, b) for a in "uvw" for b in "xy"]:
        values = {"u": [970, 10, 10, 10] if b == "x" else [250] * 4, "v": [250] * 4, "w": [3000] * 4}[a]
        rows += [(a, b, value, {"u": 0, "v": value, "w": value // 2}[a]) for value in values]
    frame = pd.DataFrame(rows, columns=[*DIMENSIONS, "turnover", "exports"])
    return frame.assign(firm=lambda each: each.index.astype(str))


def test_a_measure_that_is_a_part_of_another_needs_a_decision_where_it_tells_it() -> None:
    made = sluice.protect(
        exporters(), DIMENSIONS, measures=["turnover", "exports"], rules=RULES[:1], contributor="firm"
    )
    assert made.verdict is Verdict.REVIEW
    table = made.pattern.set_index(DIMENSIONS)
    assert table["turnover"].isna().sum() == 4
    # by hand: all that v turns over is exported, none of u is, so exports at x tell the turnover of v at x, and of u
    exported = table["exports"]["Total", "x"] - table["exports"]["w", "x"]
    assert table["turnover"]["Total", "x"] - table["turnover"]["w", "x"] - exported == 1000
    golden(made.findings[-1])


def test_values_that_are_left_open_are_unknown_beside_those_that_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who accepts what is told has not decided what is open."""
    shared = "tasks.release.tables.shared_pattern"
    monkeypatch.setattr(f"{shared}._told_by_part", lambda *asked: (1, 2))
    cells = SimpleNamespace()
    of = cast(Any, {name: SimpleNamespace(cells=cells) for name in BOTH})
    found = judge_parts(of, np.zeros(1, np.uint8))
    assert [(each.verdict, each.code) for each in found[:2]] == [
        (Verdict.REVIEW, "measures.told"), (Verdict.UNKNOWN, "measures.not_decided"),
    ]  # fmt: skip


def test_a_part_that_tells_nothing_needs_no_decision(folder: Path) -> None:
    records = pd.read_csv(folder / "firms.csv").assign(exports=lambda frame: (frame["turnover"] / 3).round(1))
    made = sluice.protect(records, DIMENSIONS, measures=["turnover", "exports"], rules=RULES, contributor="firm")
    assert made.verdict is Verdict.PASS


@st.composite
def parts(draw: st.DrawFn) -> pd.DataFrame:
    """Firms with a turnover, part of which may be exports, in few cells."""
    rows = []
    for a, b in [(a, b) for a in "uvw" for b in "xy"]:
        share = draw(st.sampled_from([0.0, 0.5, 1.0]))
        sizes = draw(st.lists(st.sampled_from([5, 20, 400]), min_size=2, max_size=4))
        rows += [(a, b, size, int(size * share)) for size in sizes]
    frame = pd.DataFrame(rows, columns=[*DIMENSIONS, "turnover", "exports"])
    return frame.assign(firm=lambda each: each.index.astype(str))


@pytest.mark.exhaustive
@given(parts())
def test_proofs_of_the_pattern_decide_as_linear_programs_do(records: pd.DataFrame) -> None:
    """What they show to be open, the ends of the intervals confirm; all else is left to these."""
    found = []
    for left_out in (False, True):
        with pytest.MonkeyPatch.context() as patched:
            if left_out:
                patched.setattr(
                    "tasks.release.tables.shared_pattern._shown_by",
                    lambda proofs, cells, *_: (np.zeros(len(cells)), np.zeros(len(cells))),
                )
            try:
                made = sluice.protect(
                    records, DIMENSIONS, measures=["turnover", "exports"], rules=RULES, contributor="firm"
                )
            except DataError:
                return  # it says which cell cannot be protected
            found.append([(each.verdict, each.code, each.data) for each in made.findings if each.rule == "measures"])
    assert found[0] == found[1]
