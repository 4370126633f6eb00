"""Formula cells: texts of a released file that a spreadsheet would run as a formula."""

import pandas as pd

from sluice.publication.records_file import columns_with_formulas
from sluice.verdict import Finding, Verdict


def formula_cells(frame: pd.DataFrame) -> list[Finding]:
    """A word to the file's users, which decides nothing: the CSV holds such texts as they are."""
    names = columns_with_formulas(frame)
    if not names:
        return []
    says = f"A spreadsheet would take some texts of {', '.join(names)} in the CSV file for formulas, and run them."
    found = Finding(rule="formula_cells", verdict=Verdict.REVIEW, says=says, scope=", ".join(names), stage="masked")
    return [found.as_reported()]
