"""A wrong document is refused in its writer's words: line, field, what is allowed, what came, and one hint."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.policy import load_policy
from schemas.contract import load_contract
from sluice.errors import DocumentError
from tasks.release.products import load_definition
from tests.golden import golden

ROOT = Path(__file__).resolve().parents[2]
DEFINITION = """\
name: survey
title: A survey
owner: emil
source: {type: csv, path: survey.csv}
contract: contract.yaml
policy: policy.yaml

plan:
  - {method: rank_swapping, columns: [income], window: 0.1}
  - {method: local_suppression, columns: [age], k: 5}
target: published
"""
POLICY = (ROOT / "policies" / "public-use-file.yaml").read_text(encoding="utf-8")


def refusal(tmp_path: Path, load: Any, text: str) -> str:
    path = tmp_path / "document.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as refused:
        load(path)
    return str(refused.value)


def test_the_documents_load_before_a_mistake_is_made(tmp_path: Path) -> None:
    for load, text in ((load_definition, DEFINITION), (load_policy, POLICY)):
        (tmp_path / "document.yaml").write_text(text, encoding="utf-8")
        load(tmp_path / "document.yaml")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("window: 0.1", "window: 10", "line 9, plan.0.rank_swapping: window of rank_swapping on 'income' must be in"),
        ("window: 0.1", "window: 10%", "window: must be a number; got '10%'. Write the share instead: 0.1."),
        ("window: 0.1", "window: '0,1'", "window: must be a number; got '0,1'. Write a point: 0.1."),
        ("k: 5", "k: five", "line 10, plan.1.local_suppression.k: must be a whole number; got 'five'"),
        ("k: 5", "k: 2.5", "k: must be a whole number; got 2.5"),
        ("[income]", "income", "line 9, plan.0.rank_swapping.columns: must be a list; got 'income'. Write [income]."),
        (", window: 0.1", "", "rank_swapping on 'income': variant plain needs 'window'"),
        (", k: 5", "", "k: must be given: smallest number of records that may share a combination of keys; of people"),
        (
            "method: rank_swapping, ",
            "",
            "line 9, plan.0: must have the key 'method', one of additive_noise, anatomization, bottom",
        ),
        ("rank_swapping", "rank_swap", "no 'method' is named 'rank_swap'. Did you mean 'rank_swapping'? Known: addi"),
        ("title: A survey", "title: 7", "line 2, title: must be text; got 7. Put it into quotes."),
        ("title: A survey", "title:", "line 2, title: must be text; got nothing"),
        ("name: survey", "name: My Survey", "name: must be: lower-case letters, digits, dashes; got 'My Survey'"),
        ("target: ", "seed: destory\ntarget: ", "seed: must be 'keep' or 'destroy'; got 'destory'. Did you mean 'dest"),
        ("policy:", "polcy:", "line 6, polcy: unknown key. Did you mean 'policy'?"),
        ("{type: csv, path: survey.csv}", "x:hush@y", "source: must be a mapping of keys to values; got 'x:***@y'"),
    ],
)
def test_a_mistake_in_a_definition(tmp_path: Path, right: str, wrong: str, says: str) -> None:
    assert right in DEFINITION
    assert says in refusal(tmp_path, load_definition, DEFINITION.replace(right, wrong, 1))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("margin: 0.05", "margin: 5"),
        ("margin: 0.05", "margin: -1"),
        ("mean: {at_most: 0.1}", "mean: 0.1"),
        ("[distance, ambiguity]", "[distances]"),
        ("reference: leave_one_out", "reference: loo"),
    ],
)
def test_a_mistake_in_a_policy(tmp_path: Path, right: str, wrong: str) -> None:
    assert right in POLICY
    golden(refusal(tmp_path, load_policy, POLICY.replace(right, wrong, 1)))


def test_a_waiver_must_end_and_dates_are_written_year_first(tmp_path: Path) -> None:
    waiver = {"rule": "k_anonymity", "scope": "survey", "reason": "The board of May decided so", "owner": "amara"}
    endless = POLICY + yaml.safe_dump({"waivers": [waiver | {"granted": "2026-05-01"}]})
    golden(refusal(tmp_path, load_policy, endless))
    german = POLICY + yaml.safe_dump({"waivers": [waiver | {"granted": "01.05.2026", "expires": "2026-06-01"}]})
    golden(refusal(tmp_path, load_policy, german))
    assert "2026-12-31" in refusal(tmp_path, load_policy, german)


def test_one_wrong_entry_of_a_list_is_one_fault_and_an_empty_list_is_called_so(tmp_path: Path) -> None:
    wrong = refusal(tmp_path, load_policy, POLICY.replace("[distance, ambiguity]", "[far]", 1))
    assert wrong.count("\n") == 1
    empty = refusal(tmp_path, load_definition, DEFINITION[: DEFINITION.index("plan:")] + "plan: []\ntarget: x\n")
    assert "line 8, plan: must not be empty" in empty


def test_a_variable_is_found_by_its_line(tmp_path: Path) -> None:
    contract = "dataset: d\nversion: 1\nvariables:\n  - name: a\n    role: other\n    kind: continous\n"
    says = refusal(tmp_path, load_contract, contract)
    golden(says)
    assert says.endswith("got 'continous'. Did you mean 'continuous'?")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        (
            "  - {method: rank",
            "- {method: rank",
            "line 10, column 3: is it indented like the lines that it belongs to?",
        ),
        ("plan:\n", "plan:\n\t- {}\n", "line 9, column 1: a tab; indent with blanks"),
        ("owner: emil", "owner emil", "line 4, column 1: is a colon missing there or in the line above?"),
        (
            "title: A survey",
            "title: A: survey",
            "line 2, column 9: is it indented too far, or does a text with a colon",
        ),
    ],
)
def test_broken_yaml_says_where_and_what_it_may_be(tmp_path: Path, right: str, wrong: str, says: str) -> None:
    assert right in DEFINITION
    golden(refusal(tmp_path, load_definition, DEFINITION.replace(right, wrong, 1)))
    assert str(says) in refusal(tmp_path, load_definition, DEFINITION.replace(right, wrong, 1))
