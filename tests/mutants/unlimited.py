"""A plugin of pytest's by which tests may take what they take: a fault is not found by a machine that is busy."""

from math import inf

from tests import tiers

tiers.UNIT_SECONDS = inf
