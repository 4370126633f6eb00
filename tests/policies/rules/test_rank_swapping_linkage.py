"""Linkage by the window of rank swapping."""

import numpy as np

from policies.rules.linkage_rules import DistanceLinkage, RankSwappingLinkage
from sluice.masking.swapping.rank_swapping import RankSwapping
from tests.golden import golden
from tests.policies.rules.linked_people import ORIGINAL, VARIABLES, attacked, find

NAMES = ("age", "weight", "income")


def test_an_intruder_who_knows_the_window_finds_more() -> None:
    masked = RankSwapping(columns=NAMES, window=0.05).mask(ORIGINAL, VARIABLES, np.random.default_rng(5))
    generic = find(DistanceLinkage(limit=0.01, columns=NAMES), attacked(ORIGINAL, masked))
    specific = find(RankSwappingLinkage(limit=0.01, window=0.05, columns=NAMES), attacked(ORIGINAL, masked))
    assert specific.observed > generic.observed
    golden.words(specific.says)
