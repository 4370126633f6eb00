"""A wrong document is refused in its writer's words: line, field, what is allowed, what came, and one hint."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.policy import load_policy
from schemas.contract import load_contract
from sluice.ground.errors import DocumentError
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
    ("document", "right", "wrong"),
    [
        (DEFINITION, "window: 0.1", "window: 10"),
        (DEFINITION, "window: 0.1", "window: 10%"),
        (DEFINITION, "window: 0.1", "window: '0,1'"),
        (DEFINITION, "k: 5", "k: five"),
        (DEFINITION, "k: 5", "k: 2.5"),
        (DEFINITION, "[income]", "income"),
        (DEFINITION, ", window: 0.1", ""),
        (DEFINITION, ", k: 5", ""),
        (DEFINITION, "method: rank_swapping, ", ""),
        (DEFINITION, "rank_swapping", "rank_swap"),
        (DEFINITION, "title: A survey", "title: 7"),
        (DEFINITION, "title: A survey", "title:"),
        (DEFINITION, "name: survey", "name: My Survey"),
        (DEFINITION, "target: ", "seed: destory\ntarget: "),
        (DEFINITION, "policy:", "polcy:"),
        (DEFINITION, "{type: csv, path: survey.csv}", "x:hush@y"),
        (DEFINITION, "  - {method: rank", "- {method: rank"),
        (DEFINITION, "plan:\n", "plan:\n\t- {}\n"),
        (DEFINITION, "owner: emil", "owner emil"),
        (DEFINITION, "title: A survey", "title: A: survey"),
        (POLICY, "margin: 0.05", "margin: 5"),
        (POLICY, "margin: 0.05", "margin: -1"),
        (POLICY, "mean: {at_most: 0.1}", "mean: 0.1"),
        (POLICY, "[distance, ambiguity]", "[distances]"),
        (POLICY, "reference: leave_one_out", "reference: loo"),
    ],
    ids=lambda value: value if len(value) < 50 else "",
)
def test_a_mistake_is_named_with_its_line_and_what_it_may_be(
    tmp_path: Path, document: str, right: str, wrong: str
) -> None:
    assert right in document
    load = load_policy if document == POLICY else load_definition
    golden(refusal(tmp_path, load, document.replace(right, wrong, 1)))


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


def test_a_document_of_another_kind_is_called_by_its_name(tmp_path: Path) -> None:
    contract = "dataset: d\nversion: 1\nvariables: []\n"
    golden(refusal(tmp_path, load_definition, contract))
    golden(refusal(tmp_path, load_policy, contract))
    golden(refusal(tmp_path, load_contract, DEFINITION))


def test_what_is_allowed_in_one_place_is_listed_once(tmp_path: Path) -> None:
    twice = refusal(tmp_path, load_definition, DEFINITION + "abc: 1\nxyz: 2\n")
    assert (twice.count("unknown key"), twice.count("Allowed here")) == (2, 1)
