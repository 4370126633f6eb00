"""A plugin of pytest's for planted faults: quick tests come first, and each may take what it takes, as a fault is not
found by a machine that is busy."""

from math import inf

import pytest

from tests import tiers

tiers.UNIT_SECONDS = inf


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: tiers.TIERS.index(tiers._tier(item)))
