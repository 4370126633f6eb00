"""What a release definition refuses when it loads, beside the fields of its parts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.masking.method_catalogue import methods
from sluice.masking.microaggregation.clustering_step import ClusteringStep
from sluice.utility.analyses.asked_analyses import Analyses
from tasks.release.records.record_definition import RecordsDefinition
from tests.golden import golden

TOP = {"method": "top_bottom_coding", "columns": ["income"], "top": {"quantile": 0.9}, "strata": ["town"]}
SUPPRESSION = {"method": "local_suppression", "columns": ["town", "age"], "k": 3}
RECODING = {"method": "global_recoding", "columns": ["town"], "categories": {"all": ["a", "b"]}}


def definition(*plan: dict[str, Any]) -> RecordsDefinition:
    return RecordsDefinition.model_validate(
        {
            "name": "people",
            "title": "People",
            "owner": "emil",
            "source": {"type": "csv", "path": "people.csv"},
            "contract": "contract.yaml",
            "policy": "policy.yaml",
            "plan": list(plan),
            "target": "published",
        }
    )


def test_a_recoding_by_strata_comes_before_what_changes_the_strata() -> None:
    """Else the original could not be put on the masked file's categories, or would be by another stratum's limits."""
    assert len(definition(TOP, SUPPRESSION).plan) == 2
    assert len(definition(RECODING, TOP).plan) == 2  # a recoding is carried out on the original, too
    golden.refused(ValidationError, definition, SUPPRESSION, TOP)


@given(st.integers(2, 20))
def test_a_published_mean_stands_for_three_or_more(k: int) -> None:
    for method in ("microaggregation", "univariate_microaggregation", "projected_microaggregation"):
        step = {"method": method, "columns": ["income"], "k": k}
        if k >= 3:
            assert definition(step).plan[0].method == method
            continue
        with pytest.raises(ValidationError, match=rf"\bk\b.*\b{method}\b"):
            definition(step)


def test_a_cluster_and_a_coded_tail_hold_three_or_more() -> None:
    clusterings = [name for name, method in methods().items() if issubclass(method, ClusteringStep)]
    assert len(clusterings) == 5
    for step in (*({"method": name, "columns": ["age"], "k": 2} for name in clusterings), TOP | {"minimum_tail": 2}):
        golden.refused(ValidationError, definition, step)


def test_another_analysis_is_no_second_throw_of_the_dice() -> None:
    model = {"name": "income", "kind": "linear", "formula": "income ~ age"}
    asked = definition(TOP).model_copy(update={"analyses": Analyses.model_validate({"models": [model]})})
    assert asked != definition(TOP)
    assert asked.decides_dice() == definition(TOP).decides_dice()
