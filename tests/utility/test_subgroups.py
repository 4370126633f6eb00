from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sluice.ground.verdict import Verdict
from sluice.utility.common_bins import CommonBins
from sluice.utility.subgroups import within_each
from tests.utility.files import data, declared, files, judge


def test_the_worst_subgroup_is_named_and_held_to_the_limit() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked["town"] == "c", "sex"] = "m"
    found, findings = judge(declared(original, masked), worst_subgroup={"at_most": 0.1})
    finding = findings["worst_subgroup"]
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "town", 4)
    assert "(town = c)" in finding.says
    assert finding.data["share"] == pytest.approx(finding.observed, abs=0.0005)
    assert found.view.subgroups.worst[0].loss == pytest.approx(finding.observed)
    assert found.view.subgroups.median <= finding.observed
    assert (found.view.subgroups.compared, found.view.subgroups.worst[0].category) == (4, "c")


def test_categories_that_nobody_declared_are_not_named() -> None:
    original = data(2_000)
    of = files(original, original)
    bare = replace(of, variables={name: v.model_copy(update={"categories": None}) for name, v in of.variables.items()})
    found, findings = judge(bare, worst_subgroup={"at_most": 0})
    assert (findings["worst_subgroup"].verdict, findings["worst_subgroup"].binding) == (Verdict.PASS, False)
    assert found.view.subgroups is None


def test_categories_that_were_found_in_the_data_are_not_named() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked["sex"] == "m", "town"] = "a"
    limits = {name: {"at_most": 0} for name in ("worst_subgroup", "subgroup_quantiles", "subgroup_propensity")}
    found, findings = judge(replace(files(original, masked), undeclared=frozenset({"sex", "town"})), **limits)
    for name in limits:
        assert (findings[name].verdict, findings[name].binding, findings[name].scope) == (Verdict.PASS, False, "")
    assert found.view.subgroups is None
    of_towns = judge(replace(files(original, masked), undeclared=frozenset({"sex"})), **limits)[1]
    assert of_towns["worst_subgroup"].scope == "town"


def test_any_figure_of_records_becomes_one_of_subgroups() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked["town"] == "c", "sex"] = "m"
    of = declared(original, masked)

    def share_of_men(bins: Sequence[CommonBins]) -> float:
        sex = next(each for each in bins if each.name == "sex")
        man = sex.labels.index("m")
        return abs(float((sex.original == man).mean()) - float(sex.spread[sex.masked, man].mean()))

    found = within_each(share_of_men, of.common_bins, {"town": list("abcd")}, np.random.default_rng(0))
    women = (original["town"] == "c") & (original["sex"] == "f")
    assert [each.category for each in found][:1] == ["c"]
    assert found[0].change == pytest.approx(women.sum() / (original["town"] == "c").sum())
    assert found[0].moved >= women.sum()
    assert {each.change for each in found[1:]} == {0}


def test_a_few_changed_records_of_a_subgroup_are_not_told() -> None:
    original = data(2_000)
    masked = original.copy()
    masked.loc[masked.index[masked["town"] == "c"][:3], "sex"] = None
    found, findings = judge(declared(original, masked))
    assert {each.loss for each in found.view.subgroups.worst} == {0}
    assert "(town" not in findings["worst_subgroup"].says
    assert (findings["worst_subgroup"].scope, findings["worst_subgroup"].observed) == ("", None)
    assert judge(declared(original, masked), worst_subgroup={"at_most": 0})[1]["worst_subgroup"].verdict is Verdict.FAIL


def test_what_goes_together_in_one_subgroup_alone_is_held_to_its_limit() -> None:
    rng = np.random.default_rng(4)
    original = data(4_000)
    original["job"] = np.where(rng.random(4_000) < 0.9, original["sex"].map({"m": "p", "f": "q"}), "p")
    original["x"] = rng.choice(list("uv"), 4_000)
    masked = original.copy()
    torn = masked.index[masked["town"] == "c"]
    masked.loc[torn, "job"] = rng.permutation(masked.loc[torn, "job"])
    found, findings = judge(declared(original, masked), subgroup_cramers_v={"at_most": 0.1})
    finding = findings["subgroup_cramers_v"]
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "town", 4)
    assert "(town = c)" in finding.says
    assert found.view.subgroup_associations.worst[0].category == "c"
    assert findings["worst_subgroup"].observed < 0.05  # no distribution of the subgroup moved


def test_what_a_few_records_of_a_subgroup_changed_together_is_not_told() -> None:
    original = data(2_000)
    original["job"] = original["sex"]
    masked = original.copy()
    masked.loc[masked.index[masked["town"] == "c"][:3], "sex"] = None
    found, findings = judge(declared(original, masked), subgroup_cramers_v={"at_most": 0})
    finding = findings["subgroup_cramers_v"]
    assert (finding.verdict, finding.scope, finding.observed) == (Verdict.FAIL, "", None)
    assert "town" not in finding.says
    assert found.view.subgroup_associations is None


def test_a_subgroup_in_which_few_of_many_changed_records_are_is_not_named() -> None:
    original = data(2_000)
    original["job"] = original["sex"]
    masked = original.copy()
    for town, count in {"a": 2, "b": 2, "c": 6, "d": 2}.items():
        masked.loc[masked.index[masked["town"] == town][:count], "sex"] = None
    found, findings = judge(declared(original, masked), subgroup_cramers_v={"at_most": 0})
    finding = findings["subgroup_cramers_v"]
    assert (finding.verdict, finding.scope, finding.observed) == (Verdict.FAIL, "", None)
    assert "town" not in finding.says
    assert found.view.subgroup_associations is None
