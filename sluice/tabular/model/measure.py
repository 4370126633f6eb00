"""What the cells of a table add up, and by which rules."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from sluice.ground.errors import DataError

WeightRule = Literal["none", "argus", "gconfid_exact"]
Negative = Literal["refuse", "absolute"]
Missing = Literal["refuse", "leave_out"]
Duplicates = Literal["add", "refuse"]
Counts = Literal["records", "contributors"]  # what a cell without a variable is a number of

MOST_DECIMALS = 6  # that are taken without being asked for


class Requested(NamedTuple):
    """How a record says that its contributor asked for protection: by one of two texts in a column.

    before : of those whose cells were unsafe before; None where nobody is told apart
    """

    column: str
    now: str
    before: str | None = None

    @property
    def texts(self) -> tuple[str, str | None]:
        return self.now, self.before


class Asking(NamedTuple):
    """Numbers of the contributors who asked for protection, and of those whose cells were unsafe before."""

    now: tuple[int, ...] = ()
    before: tuple[int, ...] = ()


NOBODY = Asking()


@dataclass(frozen=True)
class Measure:
    """The columns of the records that a table is made of, and how they count.

    value       : its name; None: records are counted, each as 1. (Numbers of contributors are no measure: they do not
                  add up where one contributes to several cells)
    contributor : whose record it is; None: each record is a contributor of its own
    holding     : to whom the contributor belongs: a holding's records are one contribution. Empty: to nobody
    weight      : the sampling weight
    weight_rule : none: weights are ignored.
                  argus: totals are weighted, and a contribution of weight w counts as w contributors of that size,
                  w - 1 of them nobody's. Of several records of a contributor in a cell the smallest weight counts,
                  which is the cautious choice. Source: tau-ARGUS user's manual, on sampling weights; for fractions,
                  which it leaves open, the k-th contributor is the average over the k-th unit of weight.
                  gconfid_exact: totals are weighted, and so is each contribution: what is protected is w times the
                  value, by one contributor. Read off what gconfid 2.0.4 answers to weight_prot_level EXACT; its
                  LINEAR and STEP, which protect nobody of a weight of 3 or more, cannot be stated of a total and its
                  largest contributions
    negative    : refuse; or absolute: rules compare the sizes of contributions without their signs, totals keep them
    missing     : of the value: refuse; or leave_out: leave the record out of the table
    duplicates  : of a contributor in one cell of the lowest level: add; or refuse
    decimals    : of the totals; each contribution is rounded to them first, half to even, so that the table adds up.
                  None: as many as the data have, at most 6
    hashed      : contributors and holdings bear hexadecimal hashes of 15 digits and more, whose beginnings serve as
                  their numbers: so a contributor has the same number in every table. Read by DuckDB only
    raises      : DataError for a value that is not allowed, or a rule without its column
    """

    value: str | None = None
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    weight_rule: WeightRule = "none"
    negative: Negative = "refuse"
    missing: Missing = "refuse"
    duplicates: Duplicates = "add"
    decimals: int | None = None
    hashed: bool = False

    def __post_init__(self) -> None:
        allowed = {"weight_rule": WeightRule, "negative": Negative, "missing": Missing, "duplicates": Duplicates}
        for name, values in allowed.items():
            if getattr(self, name) not in get_args(values):
                raise DataError(f"{name} must be one of {', '.join(get_args(values))}; got '{getattr(self, name)}'.")
        if self.weight_rule != "none" and self.weight is None:
            raise DataError(f"weight_rule {self.weight_rule} needs a weight; name its column.")
        if self.weight is not None and self.weight_rule == "none":
            raise DataError(f"weight '{self.weight}' needs a weight_rule: argus or gconfid_exact.")
        if self.duplicates == "refuse" and self.contributor is None:
            raise DataError("duplicates can only be refused where a contributor is named.")
        if self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS:
            raise DataError(f"decimals must be from 0 to {MOST_DECIMALS}; got {self.decimals}.")

    @property
    def counts(self) -> Counts | None:
        """What a cell is a number of; None for a magnitude. A contributor, or a weight, may stand for several."""
        if self.value is not None:
            return None
        return "contributors" if self.columns == () else "records"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, besides the dimensions."""
        return tuple(name for name in (self.value, self.contributor, self.holding, self.weight) if name is not None)
