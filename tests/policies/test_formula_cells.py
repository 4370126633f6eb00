"""Formula cells: named in the finding, never shown. The chain is in tests/flows/test_measures.py."""

import pandas as pd

from policies.formula_cells import formula_cells, formula_codes
from policies.policy import load_policy, shipped_policies
from sluice.documents.document_reading import document_sha256
from sluice.ground.verdict import Verdict
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden


def test_a_column_with_a_formula_is_named_and_its_text_is_not() -> None:
    frame = pd.DataFrame({"age": [-1, -2], "note": ["=cmd()", "x"], "town": pd.Categorical(["-a", "b"])})
    (finding,) = formula_cells(frame)
    assert (finding.verdict, finding.scope, finding.binding) == (Verdict.REVIEW, "note, town", False)
    assert "cmd" not in finding.says


def test_a_category_that_no_record_has_is_no_cell() -> None:
    frame = pd.DataFrame({"town": pd.Categorical(["b", "b"], categories=["=a", "b"])})
    assert formula_cells(frame) == []


def test_numbers_and_plain_texts_are_no_formulas() -> None:
    assert formula_cells(pd.DataFrame({"age": [-1.5, 2], "town": ["a-b", None]})) == []


def test_a_name_is_a_cell_of_the_first_line() -> None:
    (finding,) = formula_cells(pd.DataFrame({"=cmd|'/c calc'!A1": [1, 2], "age": [3, 4]}))
    assert finding.scope == "=cmd|'/c calc'!A1"


def test_codes_of_tables_are_texts_of_their_file() -> None:
    plain, coded = Dimension.flat("size", ["a-b", "1"]), Dimension.flat("age", ["-5", "5-9", "@SUM(A1)"])
    (finding,) = formula_codes([plain, coded])
    assert (finding.verdict, finding.scope, finding.binding) == (Verdict.REVIEW, "age", False)
    assert formula_codes([plain]) == []
    assert formula_codes([Dimension.flat("+x", ["a", "b"])])[0].scope == "+x"


def test_the_policy_blocks_them_or_has_them_escaped() -> None:
    frame = pd.DataFrame({"note": ["=cmd()", "x"]})
    (blocking,) = formula_cells(frame, "block")
    assert (blocking.verdict, blocking.binding) == (Verdict.REVIEW, True)
    (escaped,) = formula_cells(frame, "escape")
    assert (escaped.verdict, escaped.binding) == (Verdict.PASS, False)
    golden.words(escaped.says)
    assert formula_codes([Dimension.flat("+x", ["a", "b"])], "block")[0].binding
    assert formula_cells(pd.DataFrame({"note": ["x"]}), "block") == []


def test_a_policy_that_says_nothing_of_them_stays_the_one_it_was() -> None:
    policy = load_policy(shipped_policies()["public-use-file"])
    assert "formula_cells" not in policy.model_dump(mode="json")
    blocking = policy.model_copy(update={"formula_cells": "block"})
    assert document_sha256(blocking) != document_sha256(policy)
    assert "formula_cells" in policy.waivable
