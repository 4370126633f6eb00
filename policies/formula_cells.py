"""Formula cells: names, texts and codes of a released file that a spreadsheet would run as formulas."""

from collections.abc import Iterable

import pandas as pd

from sluice.publication.records_file import columns_with_formulas, is_formula
from sluice.tabular.model.dimension import Dimension
from sluice.verdict import Finding, Verdict


def formula_cells(frame: pd.DataFrame) -> list[Finding]:
    """A word to the users of a file of records, which decides nothing: the CSV holds such texts as they are."""
    return _word_on(columns_with_formulas(frame))


def formula_codes(dimensions: Iterable[Dimension]) -> list[Finding]:
    """The same to users of tables, whose codes are texts of the CSV."""
    return _word_on([each.name for each in dimensions if any(map(is_formula, (each.name, *each.codes)))])


def _word_on(names: list[str]) -> list[Finding]:
    if not names:
        return []
    says = f"A spreadsheet would take some texts of {', '.join(names)} in the CSV file for formulas, and run them."
    found = Finding(rule="formula_cells", verdict=Verdict.REVIEW, says=says, scope=", ".join(names), stage="masked")
    return [found.as_reported()]
