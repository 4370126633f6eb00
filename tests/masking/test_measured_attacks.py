"""What the catalogue says that the attacks reach is what they reach (consistency)."""

import re

import pytest

from benchmarks.transparency import STEPS, measured
from sluice.masking.catalogue import methods
from sluice.masking.measured_attacks import MEASURED
from tests.listed import all_listed


def test_every_method_was_measured() -> None:
    all_listed(STEPS, methods(), "STEPS of benchmarks/transparency.py")
    all_listed(MEASURED, methods(), "MEASURED of sluice/masking/measured_attacks.py")


@pytest.mark.chain
@pytest.mark.parametrize("method", ["additive_noise", "permutation", "rank_swapping", "univariate_microaggregation"])
def test_the_figures_are_those_of_the_attacks(method: str) -> None:
    figures = [[float(each) for each in re.findall(r"(\d+) %", said)] for said in (MEASURED[method], measured(method))]
    assert figures[0] == pytest.approx(figures[1], abs=2)
    assert re.sub(r"\d+ %", "", MEASURED[method]) == re.sub(r"\d+ %", "", measured(method))
