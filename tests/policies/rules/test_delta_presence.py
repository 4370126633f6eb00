"""Delta-presence as a rule."""

from pathlib import Path

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.population.delta_presence import DeltaPresence
from tests.golden import golden
from tests.policies.rules.ill_people import one, people


def test_delta_presence_by_weights() -> None:
    frame = people([30, 30, 40], "aaa", weights=[2.0, 6.0, 10.0])  # by hand: 2 of 8, 1 of 10
    finding = one(DeltaPresence(at_most=0.2), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    golden(finding.says)
    assert one(DeltaPresence(at_most=0.25), frame).verdict is Verdict.PASS
    golden.refused(DataError, one, DeltaPresence(at_most=0.2), people([30], "a", weights=[0.5]))


def test_delta_presence_by_a_list_of_the_population(tmp_path: Path) -> None:
    path = tmp_path / "population.csv"
    path.write_text("age,area,count\n30,a,4\n40,a,10\n50,b,90\n")
    frame = people([30, 40, 40], "aaa")
    finding = one(DeltaPresence(at_most=0.2, population=str(path)), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    golden.words(finding.says)
    assert one(DeltaPresence(at_most=0.25, population=str(path)), frame).verdict is Verdict.PASS
    golden.refused(DataError, one, DeltaPresence(at_most=0.2, population=str(path)), people([99], "a"))


def test_missing_keys_that_match_any_need_a_list_of_the_population() -> None:
    assert one(DeltaPresence(at_most=0.2, missing_matches="any"), people([30], "a")).verdict is Verdict.UNKNOWN
