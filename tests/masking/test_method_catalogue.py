"""What the catalogue says that the attacks reach is what they reach (consistency)."""

import re

import pytest

from benchmarks.transparency import STEPS, measured
from sluice.masking.method_catalogue import methods
from tests.listed import all_listed


def test_every_method_was_measured() -> None:
    all_listed(STEPS, methods(), "STEPS of benchmarks/transparency.py")


@pytest.mark.chain
@pytest.mark.parametrize("method", ["additive_noise", "permutation", "rank_swapping", "univariate_microaggregation"])
def test_the_figures_are_those_of_the_attacks(method: str) -> None:
    said, found = methods()[method].attack_measured, measured(method)
    figures = [[float(each) for each in re.findall(r"(\d+) %", text)] for text in (said, found)]
    assert figures[0] == pytest.approx(figures[1], abs=2)
    assert re.sub(r"\d+ %", "", said) == re.sub(r"\d+ %", "", found)
