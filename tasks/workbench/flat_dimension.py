"""A dimension without a hierarchy: the codes that a file has in a column, and their total."""

from pathlib import Path

from sluice.ground.errors import DataError
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.tabular_file import errors_of, read_text, table_source

_TOTAL = "Total"


def dimension_in(source: Path, name: str, totals: bool = False) -> Dimension:
    """The codes of a column of a file, or of those CSV files of a folder that have it, below their 'Total'.

    totals : the file holds the cells of a table, the total too
    raises : DataError, which names the file, for a column that is absent, or cells without the total
    """
    files = sorted(source.glob("*.csv")) if source.is_dir() else [source]
    if source.is_dir():
        files = [file for file in files if name in table_source(file).column_names()]
    with errors_of(source):
        codes = {code for file in files for code in read_text(file, [name])[name].unique()} - {""}
        if totals and _TOTAL not in codes:
            raise DataError(f"no cell is the '{_TOTAL}' of '{name}'; give its hierarchy: --hierarchy {name}=FILE")
        return Dimension.flat(name, sorted(codes - {_TOTAL} if totals else codes))
