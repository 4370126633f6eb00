"""No sensitive cell is published, the same cells give the same files, and changed values say so."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from sluice.custody.states import State
from sluice.tabular.model.cells import Status
from tasks.failure import StepFailed
from tasks.release.product import AnyRelease
from tasks.release.tables.published_cells import request_of, staged_and_published_cells
from tasks.table_protection import protect, tabulate
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse
from tests.golden import golden

Bring = Callable[[House], AnyRelease]


def test_sensitive_cells_and_others_for_their_sake_are_suppressed(tables_house: TablesHouse, validated: Bring) -> None:
    release = validated(tables_house)
    staged = tabulate(release)
    protected = protect(release, staged)
    _, cells, published = staged_and_published_cells(release)
    sensitive = request_of(release, cells).requirements.sensitive
    assert np.array_equal(published.status == Status.PRIMARY, sensitive)
    assert (published.status == Status.SECONDARY).any()
    assert protected.statement is None
    listed = json.loads(release.vault.verify(protected.sha256, ".json").read_bytes())
    assert listed == protected.files
    assert release.state is State.MASKED


def test_the_same_cells_give_the_same_files(tables_house: TablesHouse, validated: Bring) -> None:
    first = validated(tables_house)
    before = protect(first, tabulate(first))
    again = validated(tables_house)
    assert protect(again, tabulate(again)) == before


def test_a_method_that_changes_values_says_what_it_could_not_protect(
    tables_house: TablesHouse, validated: Bring
) -> None:
    tables_house.definition["protection"] = {"method": "controlled_rounding", "base": 100_000}
    release = validated(tables_house)
    protected = protect(release, tabulate(release))
    assert protected.statement is not None
    assert protected.statement.attempted > 0
    _, _, published = staged_and_published_cells(release)
    assert published.value is not None
    assert (published.value % 1_000_000 == 0).all()  # in tenths


def test_a_method_for_counts_refuses_amounts(tables_house: TablesHouse, validated: Bring) -> None:
    tables_house.definition["protection"] = {"method": "small_count_rounding", "base": 5}
    release = validated(tables_house)
    staged = tabulate(release)
    with pytest.raises(StepFailed) as refused:
        protect(release, staged)
    golden.words(refused.value.detail)
