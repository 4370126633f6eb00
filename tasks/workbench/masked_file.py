"""A masked file as its original's contract lets it be understood, whoever masked it, and the original in its terms.

Labels of intervals as other programs write them, read back: which number would have become which label.

ARX writes '[20, 30[' and '20-29', sdcMicro '(20,30]' and '[20,30)', Sluice 'under 20', '20 to 29', '30 and over'.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import pandas as pd

from schemas.contract import Contract
from schemas.reading.contract_draft import inferred_contract
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.values import plain_array
from sluice.ground.variables import Kind, Role, Variable, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.recoding.global_recoding import GlobalRecoding
from sluice.reading.typed_column import typed_array
from sluice.utility.comparison import Comparison
from tasks.workbench.tabular_file import typed_table

_NUMBER = r"\s*(-?\d+(?:\.\d+)?|-?inf)\s*"
_BRACKETS = re.compile(rf"([\[\](]){_NUMBER}[,;]{_NUMBER}([\[\])])", re.IGNORECASE)
_RANGE = re.compile(rf"{_NUMBER}(?:-|–|to( under)?){_NUMBER}", re.IGNORECASE)
_OPEN = re.compile(rf"(under|<=?|>=?|≤|≥){_NUMBER}|{_NUMBER}(and over|and more|\+)", re.IGNORECASE)
_SINGLE = re.compile(_NUMBER)

_Interval = tuple[float, float, bool, bool]  # ends, and whether each belongs to it

_SAYS = Sentences(
    "identifiers_removed",
    held="The file still holds {names:commas}, by which the contract names people.",
    none="The file holds no variable that the contract calls an identifier.",
)
_UNKNOWN = Sentence("unknown_columns.unknown", "The contract does not know {names:commas}; their risk was not judged.")
_SAYS_OF_MARKS = Sentences(
    "unread_marks",
    spelled="In {names:commas} one value is written in several ways, which were read as one. Blanks or zeros may tell "
    "something of people, and nobody judged them.",
    named_rows="The rows have names beside their columns, which nobody judged; a file that is written with them tells "
    "whose each row is.",
)

_IDLE = np.random.default_rng(0)  # recodings draw nothing
_ROOT = "*"  # what ARX writes for a suppressed value, and for the top of a hierarchy, which says nothing
_BLANKS = (_ROOT, "NA", "NaN", ".", "?")  # what programs write for a suppressed value; R writes NA


MASKED_FILE = (
    Declaration(
        "identifiers_removed",
        helps="Remove these identifiers from the file before it leaves the house; no masking makes a name safe.",
    ),
    Declaration(
        "unknown_columns",
        helps="Declare these columns with their roles in the contract and assess the file again, or remove them.",
    ),
    Declaration(
        "unread_marks",
        helps="Write each value in one way, and the rows without an index.",
    ),
    Declaration(
        "row_order",
        helps="Bring the rows into a random order before the file leaves the house.",
    ),
    Declaration(
        "holdout_of_others",
        helps="Take other people into the holdout than those of the file.",
        needs="Draw the holdout from people who are not in the file: those of the file itself make every attack look "
        "harmless.",
    ),
    Declaration(
        "pairs",
        helps="Hand the masked file in with its rows in the original order, or assess it without pairs.",
    ),
)


@dataclass(frozen=True)
class MaskedFile:
    """The masked file as it was understood."""

    frame: pd.DataFrame
    variables: dict[str, Variable]
    identifiers: tuple[str, ...]  # columns that the contract calls identifiers
    unknown: tuple[str, ...]  # columns that the contract does not know
    undeclared: frozenset[str] = frozenset()  # whose categories the contract leaves to the data
    spelled: tuple[str, ...] = ()  # in which one value is written in several ways
    named_rows: bool = False  # whether its index names the rows by something else than numbers


def understood(raw: pd.DataFrame, contract: Contract, key: int) -> MaskedFile:
    """The masked file's columns as the contract's variables, changed as their values show that masking changed them.

    raw    : as a source yields it, or native values; any index, which is ignored
    key    : as `typed_table` takes it
    raises : DataError when no column is a variable of the contract

    A value of '*', or another that programs write for a suppressed one, is missing unless the contract has such a
    category. A column in which nothing else is left is taken for removed.
    """
    named_rows = not pd.api.types.is_integer_dtype(raw.index.dtype)
    raw = _without_blanks(raw, contract)
    names = [str(name) for name in raw.columns]
    identifiers = [name for name in names if name in contract.by_name and name not in contract.staged]
    unknown = [name for name in names if name not in contract.by_name]
    released: dict[str, Variable] = {}
    for name in names:
        if name in identifiers:
            continue
        known = contract.by_name.get(name)
        found = inferred_contract(raw[[name]], contract.dataset, {}).variables[0]
        released[name] = found if known is None else _after_masking(raw[name], known, found)
    if not released:
        raise DataError(f"the masked file holds no variable of the contract; it has {', '.join(names)}")
    by_kind = Contract(dataset=contract.dataset, version=contract.version, variables=tuple(released.values()))
    frame, typed = typed_table(raw, by_kind, key)
    undeclared = frozenset(name for name in released if contract.by_name.get(name, released[name]).categories is None)
    identifiers += with_role(typed, Role.PERSON)  # looked at, so that people are counted, but not to be released
    spelled = tuple(name for name in released if name in frame and _is_spelled_variously(raw[name], frame[name]))
    return MaskedFile(frame, typed, tuple(identifiers), tuple(unknown), undeclared, spelled, named_rows)


def _is_spelled_variously(raw: pd.Series, read: pd.Series) -> bool:
    """Whether different texts were read as one value: what a blank or a zero more says, nobody judged."""
    if pd.api.types.is_numeric_dtype(raw.dtype) or pd.api.types.is_datetime64_any_dtype(raw.dtype):
        return False
    there = read.notna().to_numpy(bool)
    return bool(raw.astype("string")[there].nunique() > read[there].nunique())


def _without_blanks(raw: pd.DataFrame, contract: Contract) -> pd.DataFrame:
    columns = {}
    for name, column in raw.items():
        known = contract.by_name.get(str(name))
        words = known is None or (known.categories is None and (known.kind.is_categorical or known.kind is Kind.TEXT))
        declared = known.categories or () if known else ()
        blanks = [_ROOT] if words else [blank for blank in _BLANKS if blank not in declared]
        blank = column.astype("string").str.strip().isin(blanks).fillna(False).to_numpy(bool)
        if not blank.any():
            columns[name] = column
        elif not (blank | column.isna().to_numpy(bool)).all():
            columns[name] = column.mask(blank)
    return pd.DataFrame(columns, index=raw.index)


def on_columns(masked: MaskedFile) -> list[Finding]:
    """Whether the masked file holds identifiers, or columns of which nothing is known."""
    found = []
    if masked.identifiers:
        says = _SAYS.held(names=masked.identifiers)
        found.append(Finding(rule="identifiers_removed", verdict=Verdict.FAIL, stage="masked", **as_fields(says)))
    else:
        says = _SAYS.none()
        found.append(Finding(rule="identifiers_removed", verdict=Verdict.PASS, stage="masked", **as_fields(says)))
    if masked.unknown:
        says = _UNKNOWN(names=masked.unknown)
        found.append(Finding(rule="unknown_columns", verdict=Verdict.REVIEW, stage="masked", **as_fields(says)))
    if masked.spelled or masked.named_rows:
        says = _SAYS_OF_MARKS.spelled(names=masked.spelled) if masked.spelled else _SAYS_OF_MARKS.named_rows()
        found.append(Finding(rule="unread_marks", verdict=Verdict.REVIEW, stage="masked", **as_fields(says)))
    return found


def compared(
    original: pd.DataFrame,
    masked: MaskedFile,
    contract: Contract,
    holdout: pd.DataFrame | None,
    paired: bool,
    minimum_cell: int,
    seed: int,
) -> Comparison:
    """The files as attacks see them.

    original, holdout : with every variable of the contract, as a source yields them or in native values
    seed              : the one that `masked` was understood with
    """
    typed, variables = typed_table(original, contract, seed)
    others = None if holdout is None else typed_table(holdout, contract, seed)[0]
    return Comparison(
        original=typed,
        recoded=recoded(typed, masked, variables, paired),
        masked=masked.frame,
        holdout=others,
        recoded_holdout=None if others is None else recoded(others, masked, variables, paired=False),
        variables=variables,
        released=masked.variables,
        rng=np.random.default_rng(seed),
        paired=paired,
        unit=contract.records_are,
        minimum_cell=minimum_cell,
        knowledge=contract.knowledge,
        numbers_alone=contract.numbers_alone,
        record_rules=contract.record_rules,
        undeclared=contract.undeclared,
    )


def recoded(original: pd.DataFrame, masked: MaskedFile, variables: dict[str, Variable], paired: bool) -> pd.DataFrame:
    """The original records on the masked file's categories, as far as they can be known.

    A column whose categories are others than the contract's is recoded by the level of its hierarchy that holds them;
    numbers whose labels are intervals, by these. With pairs, one in which each original value always becomes the same
    category, suppressed cells apart, was recoded in that way. Where the contract declares no categories, two files need
    not have the same rare ones: those that both have are compared. What remains cannot be compared, and stands as
    missing.
    """
    columns = {}
    for name, variable in masked.variables.items():
        if name not in variables:
            continue
        column, before = original[name], variables[name]
        comparable = before.kind is variable.kind and before.categories == variable.categories
        if comparable or (before.kind.is_numeric and variable.kind.is_numeric):
            columns[name] = column.astype(masked.frame[name].dtype) if not comparable else column
        elif (grouped := _by_hierarchy(column, before, variable)) is not None:
            columns[name] = _on_categories(grouped, masked.frame[name])
        elif (
            before.kind.is_numeric
            and (intervals := by_interval(column, [str(each) for each in variable.categories or ()])) is not None
        ):
            columns[name] = _on_categories(intervals, masked.frame[name])
        elif paired and (learned := _by_pairs(column, masked.frame[name])) is not None:
            columns[name] = learned
        elif name in masked.undeclared and before.kind.is_categorical and variable.kind.is_categorical:
            columns[name] = _on_categories(column, masked.frame[name])
        else:
            columns[name] = pd.Series(None, original.index, masked.frame[name].dtype)
    return pd.DataFrame(columns, index=original.index)


def _by_hierarchy(column: pd.Series, before: Variable, after: Variable) -> pd.Series | None:
    """The column at the lowest level of its hierarchy that has all the masked file's categories."""
    if before.hierarchy is None or after.categories is None:
        return None
    for level in range(1, before.hierarchy.depth + 1):
        if set(after.categories) <= set(before.hierarchy.at_level(level).values()):
            step = GlobalRecoding(columns=(before.name,), level=level)
            return step.mask(pd.DataFrame({before.name: column}), {before.name: before}, _IDLE)[before.name]
    return None


def _by_pairs(before: pd.Series, after: pd.Series) -> pd.Series | None:
    """The recoding that the pairs show, on every record; None where one value became several. Blanks show nothing."""
    values = before.astype("string")
    pairs = pd.DataFrame({"before": values, "after": after})[after.notna() & before.notna()].drop_duplicates()
    if pairs["before"].duplicated().any():
        return None
    return _on_categories(values.map(pairs.set_index("before")["after"].astype("string")), after)


def _on_categories(column: pd.Series, like: pd.Series) -> pd.Series:
    """The column with the categories of another; what it has beyond them is missing."""
    if not isinstance(like.dtype, pd.CategoricalDtype):
        return column.astype(like.dtype)
    known = column.astype("string")
    return known.where(known.isin(like.cat.categories)).astype(like.dtype)


def _after_masking(column: pd.Series, known: Variable, found: Variable) -> Variable:
    """The contract's variable as its masked values show it: without bounds, a number a fraction, or with new groups."""
    free = {"minimum": None, "maximum": None, "nullable": True, "max_missing_share": None}
    if known.kind.is_numeric and found.kind.is_numeric:
        kind = (
            known.kind if known.kind is Kind.CONTINUOUS else found.kind
        )  # rounded fractions are still compared as such
        return known.model_copy(update=free | {"kind": kind, "missing_codes": found.missing_codes})
    if known.kind.is_categorical or known.kind is Kind.TEXT:
        _, problems = typed_array(plain_array(column), known)
        if not problems:
            return known.model_copy(update={"nullable": True, "max_missing_share": None})
    elif known.kind is found.kind or (known.date_format and not typed_array(plain_array(column), known)[1]):
        return known.model_copy(update=free)
    return found.model_copy(
        update={"role": known.role, "description": known.description, "unit": known.unit, "kind": Kind.NOMINAL}
    )


def by_interval(column: pd.Series, labels: Sequence[str]) -> pd.Series | None:
    """Each number's label, missing where no label holds it; None unless all labels are intervals apart from each other.

    column  : numbers, any index
    labels  : of one masked variable
    returns : a categorical column with the same index
    cost    : O(n) a label
    """
    intervals = [_interval(label) for label in labels]
    if not intervals or any(each is None for each in intervals):
        return None
    values = column.to_numpy(np.float64, na_value=np.nan)
    held = np.zeros(len(values), np.int64)
    codes = np.full(len(values), -1)
    for code, (low, high, from_low, to_high) in enumerate(each for each in intervals if each is not None):
        inside = (values >= low if from_low else values > low) & (values <= high if to_high else values < high)
        held += inside
        codes[inside] = code
    if (held > 1).any() or not held.any():
        return None
    return pd.Series(pd.Categorical.from_codes(codes.tolist(), categories=pd.Index(labels)), index=column.index)


def _interval(label: str) -> _Interval | None:
    text = label.strip()
    if found := _BRACKETS.fullmatch(text):
        return float(found[2]), float(found[3]), found[1] == "[", found[4] == "]"
    if found := _RANGE.fullmatch(text):
        return float(found[1]), float(found[3]), True, not found[2]
    if found := _OPEN.fullmatch(text):
        if found[4]:
            return float(found[3]), inf, True, False
        end, sign = float(found[2]), found[1].lower()
        return (-inf, end, False, sign in ("<=", "≤")) if sign in ("under", "<", "<=", "≤") else (
            end, inf, sign in (">=", "≥"), False
        )  # fmt: skip
    if found := _SINGLE.fullmatch(text):
        return float(found[1]), float(found[1]), True, True
    return None
