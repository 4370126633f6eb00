"""The codebook of protected tables: what columns and codes mean, how cells were protected, and what is not published.

All figures are of the published files. Its page is static, without scripts, and everything in it is text.
"""

from collections import Counter
from dataclasses import dataclass

from sluice.ground.variables import Variable, Variables
from sluice.publication.codebook import page_of
from sluice.publication.datapackage import table_variables
from sluice.publication.edition import Edition
from sluice.publication.measured_use import share
from sluice.publication.published_table import PUBLISHED, PublishedTable, sums_among
from sluice.tabular.model.dimension import Dimension


@dataclass(frozen=True, kw_only=True)
class TablesCodebook(Edition):
    """What is known of published tables, for people and for catalogues.

    measure    : what the values are, in words
    meanings   : of the dimensions, and of several measures, as the contract describes and labels them
    protection : sentences on how the tables were protected
    withheld   : sentences on marginals that are not published, so that nobody takes them for empty
    """

    tables: tuple[PublishedTable, ...]
    measure: str
    unit: str | None
    meanings: Variables
    protection: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Those of all tables, each once."""
        return tuple({each.name: each for table in self.tables for each in table.dimensions}.values())

    @property
    def columns(self) -> dict[str, Variable]:
        """Name -> what the column means, beside the dimensions, of all tables."""
        names = {each.name for each in self.dimensions}
        found = [table_variables(table, self.measure, self.unit, self.meanings) for table in self.tables]
        return {name: each for held in found for name, each in held.items() if name not in names}

    @property
    def words(self) -> dict[str, tuple[str, int]]:
        """Status -> what it means, and how many rows of all tables have it."""
        found = [table_variables(table, self.measure, self.unit, self.meanings)["status"] for table in self.tables]
        rows = Counter(word for table in self.tables for word in table.status)
        return {word: (meaning, rows[word]) for each in found for word, meaning in each.labels.items()}


@dataclass(frozen=True)
class DescribedCode:
    """A code of a dimension. kind : the total, a sum or a cell; part_of : the codes that it is directly a part of."""

    code: str
    meaning: str
    kind: str
    part_of: tuple[str, ...]


def described_codes(book: TablesCodebook, dimension: Dimension) -> list[DescribedCode]:
    """The codes in their order. A code is a sum where one of the tables lists parts of it."""
    sums: set[str] = set()
    for table in book.tables:
        for axis, each in enumerate(table.dimensions):
            if each.name == dimension.name:
                sums |= sums_among(dimension, {codes[axis] for codes in table.codes})
    above: dict[int, list[str]] = {}
    for group, parts in dimension.sums:
        for part in parts:
            above.setdefault(part, []).append(dimension.codes[group])
    known = book.meanings.get(dimension.name)
    labels = known.labels if known is not None else {}
    return [
        DescribedCode(
            code,
            labels.get(code, "" if place else "all"),
            "the total" if not place else "a sum" if code in sums else "a cell",
            tuple(above.get(place, ())),
        )
        for place, code in enumerate(dimension.codes)
    ]


@dataclass(frozen=True)
class TableLoss:
    """What a published table does not tell, worked out of what it tells: nothing follows that does not follow anyway.

    cells, totals     : rows that are no sums of others, and those that are
    no_value, no_total : of these, without a value
    told              : share of the total, 0 to 1, that the cells with a value make up together; None where the total
                        is not published or 0, values are negative, or every cell has a value
    """

    cells: int
    totals: int
    no_value: int
    no_total: int
    told: float | None

    def says(self, table: str) -> str:
        """In one or two sentences."""
        if not self.no_value and not self.no_total:
            return f"In table {table} every listed cell has a value."
        lacking = (_of(self.no_value, self.cells, "cell"), _of(self.no_total, self.totals, "total"))
        says = f"In table {table} {' and '.join(filter(None, lacking))} have no value."
        if self.told is not None:
            says += (
                f" The cells with a value make up {share(self.told)} of the total; {share(1 - self.told)} is not "
                "published cell by cell."
            )
        return says


def losses_of(table: PublishedTable) -> list[str]:
    """What a table does not tell, in words, of each measure."""
    if not table.others:
        return [loss_of(table).says(table.name)]
    return [loss_of(table.of(each)).says(f"{table.name} of {each.name}") for each in table.measures]


def _of(without: int, all_: int, what: str) -> str:
    """'2 of 9 cells (22 %)'; '' of none."""
    return f"{without:,} of {all_:,} {what if all_ == 1 else f'{what}s'} ({share(without / all_)})" if without else ""


def loss_of(table: PublishedTable) -> TableLoss:
    """Of one table, from its rows alone."""
    hidden = [word != PUBLISHED for word in table.status]
    is_cell = [not total for total in table.totals]
    no_value = sum(one and cell for one, cell in zip(hidden, is_cell, strict=True))
    top = tuple(dimension.codes[0] for dimension in table.dimensions)
    whole = dict(zip(table.codes, table.value, strict=True)).get(top)
    known = [value for value, cell in zip(table.value, is_cell, strict=True) if cell and value is not None]
    told = sum(known) / whole if whole and no_value and min(known, default=0) >= 0 else None
    return TableLoss(
        cells=sum(is_cell),
        totals=len(is_cell) - sum(is_cell),
        no_value=no_value,
        no_total=sum(hidden) - no_value,
        told=told if told is not None and 0 <= told <= 1 else None,
    )


def tables_page(book: TablesCodebook) -> bytes:
    """The page. The same codebook gives the same bytes. Nothing is loaded, and no style but its own counts."""
    return page_of(
        "tables_codebook.html.j2",
        book=book,
        losses=[says for table in book.tables for says in losses_of(table)],
        codes={dimension.name: described_codes(book, dimension) for dimension in book.dimensions},
    )
