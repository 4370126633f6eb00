"""People whom nobody resembles, and whose values came through."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.standard.copied_values import judge_lone_copies
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.verdict import Verdict
from sluice.risk.reference.copies import count_copies, lone_copies
from tests.golden import golden
from tests.policies.standard.wealth_sample import paired, wealthy


@pytest.mark.parametrize("hair", [0.0, 1e-3, 0.02], ids=lambda share: f"noise {share}")
def test_one_variable_blown_to_pieces_does_not_hide_that_all_others_are_verbatim(hair: float) -> None:
    frame, variables = wealthy()
    rng = np.random.default_rng(1)
    noise = {f"amount{i}": (hair if i < 3 else 100) * rng.normal(size=len(frame)) for i in range(4)}
    blown = frame.assign(**{name: frame[name] + frame[name].std() * added for name, added in noise.items()})
    finding = judge_lone_copies(ReferenceStandard(), paired(frame, blown, variables))
    assert finding.verdict is Verdict.FAIL
    assert finding.observed > (0.2 if hair else 0.95)
    golden(finding.says)


def test_records_that_lose_their_twins_do_not_make_up_for_lone_ones_that_are_verbatim() -> None:
    # 600 people in pairs, moved apart by masking, and 400 lone ones as they were: fewer copies than in the reference.
    pairs, lone = np.repeat(np.arange(300.0), 2), np.arange(1000.0, 1400.0)
    original, released = np.append(pairs, lone), np.append(np.arange(-600.0, 0), lone)
    in_reference = np.append(np.ones(600, dtype=bool), np.zeros(400, dtype=bool))
    assert count_copies(~in_reference, in_reference).excess < 0
    count = lone_copies([(np.append(pairs[:60], lone), np.append(np.arange(-60.0, 0), lone))], 460, 460)
    assert (count.found, count.excess > 0.5) == (400, True)
    # With so many pairs that the lone could as well be found by chance, nothing is held against the file.
    assert lone_copies([(original, released)], 1000, 1000).excess < 0


@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_other_people_of_the_same_kind_are_no_lone_copies(values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.integers(0, values, (2, 400)) ** 2 for _ in range(2))
    assert lone_copies(zip(one, other, strict=True), 400, 400).excess <= 0


def test_variables_that_cannot_be_compared_leave_lone_copies_unknown() -> None:
    frame, variables = wealthy(20)
    finding = judge_lone_copies(ReferenceStandard(), paired(frame[[]], frame, variables))
    assert finding.verdict is Verdict.UNKNOWN
