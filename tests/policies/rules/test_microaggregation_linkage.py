"""Linkage by who knows that each variable was microaggregated by itself."""

from dataclasses import replace

import numpy as np

from policies.rules.linkage_rules import MicroaggregationLinkage
from sluice.masking.microaggregation.ordered_microaggregation import UnivariateMicroaggregation
from tests.golden import golden
from tests.policies.rules.linked_people import COPY, ORIGINAL, SHUFFLED, VARIABLES, find


def test_an_intruder_who_knows_the_groups_finds_most() -> None:
    names = ("age", "weight", "income")
    step = UnivariateMicroaggregation(columns=names, k=20, algorithm="individual_ranking", missing="by_pattern")
    masked = step.mask(ORIGINAL, VARIABLES, np.random.default_rng(5))
    grouped = replace(COPY, masked=masked, released=dict(step.released(VARIABLES)))
    assert find(MicroaggregationLinkage(limit=0.01, columns=names), grouped).observed > 0.5


def test_categories_are_not_compared() -> None:
    golden.words(find(MicroaggregationLinkage(limit=0.05), SHUFFLED).says)
