"""Formula cells: names, texts and codes of a released file that a spreadsheet would run as formulas.

Characters that nobody sees, or that reorder others, are no part of this: they are refused where data come in.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import pandas as pd

from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.spreadsheet_text import columns_with_formulas, is_formula
from sluice.tabular.model.dimension import Dimension

_SAYS = Sentences(
    "formula_cells",
    escaped="Texts of {columns:commas} that a spreadsheet would take for formulas have a quote in front in the CSV "
    "file, so that it shows them; in all other files they are as they were.",
    formulas="A spreadsheet would take some texts of {columns:commas} in the CSV file for formulas, and run them.",
)

FormulaCells: TypeAlias = Literal["report", "escape", "block"]
"""What becomes of them: they are published as they are, with a word; as texts; or not, unless somebody decides so."""


FORMULA_CELLS = (
    Declaration(
        "formula_cells",
        helps="Recode the category that begins with = + - or @, or let the policy say `formula_cells: escape`, by "
        "which it has a quote in front in the CSV file; other files are not affected.",
        waivable=True,
    ),
)


def formula_cells(frame: pd.DataFrame, policy: FormulaCells = "report") -> list[Finding]:
    """What users of a file of records are told, or those who decide on it."""
    return _word_on(columns_with_formulas(frame), policy)


def formula_codes(dimensions: Iterable[Dimension], policy: FormulaCells = "report") -> list[Finding]:
    """The same of tables, whose codes are texts of the CSV."""
    return _word_on([each.name for each in dimensions if any(map(is_formula, (each.name, *each.codes)))], policy)


def _word_on(names: list[str], policy: FormulaCells) -> list[Finding]:
    if not names:
        return []
    columns = ", ".join(names)
    if policy == "escape":
        verdict = Verdict.PASS
        says = _SAYS.escaped(columns=names)
    else:
        verdict = Verdict.REVIEW
        says = _SAYS.formulas(columns=names)
    found = Finding(rule="formula_cells", verdict=verdict, **as_fields(says), scope=columns, stage="masked")
    return [found if policy == "block" else found.as_reported()]
