"""What to say when records are refused: the same words for records in memory and in a database, and no value."""

from collections.abc import Mapping

from sluice.ground.errors import DataError, MeasureChoiceError, did_you_mean
from sluice.reading import spelling
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS


def missing_value(column: str, count: int) -> DataError:
    says = f"'{column}' is missing in {count} records. Complete them, or let records without it be left out"
    return MeasureChoiceError(says, "missing", "leave_out")


def negative_value(column: str, count: int) -> DataError:
    says = f"'{column}' is negative in {count} records. If that is right, let the rules compare absolute values"
    return MeasureChoiceError(says, "negative", "absolute")


def duplicates(column: str, count: int) -> DataError:
    says = f"{count} records are of a '{column}' that has another record in the same cell. If that is right, add them"
    return MeasureChoiceError(says, "duplicates", "add")


def light_weight(column: str, count: int) -> str:
    return f"'{column}', a weight, must be 1 or more, for a record stands for itself; it is less in {count} records."


def no_leaf(dimension: Dimension, counts: Mapping[str, int]) -> str:
    """What to say of records whose codes are no leaves; counts: code -> records, '' for a missing code.

    A text that is near no code is not repeated: it may be what another column holds.
    """
    reasons, leaves = [], [dimension.codes[leaf] for leaf in dimension.leaves]
    strange = sorted(code for code in counts if code)
    for code in strange:
        with_zeros = next((leaf for leaf in leaves if leaf != code and leaf.lstrip("0") == code), None)
        hint = f"Did you mean '{with_zeros}'? Read codes as text" if with_zeros else did_you_mean(code, leaves).strip()
        if code in dimension.position:
            reasons.append(f"'{code}' is a group, which others add up to")
        elif hint:
            reasons.append(f"'{code}' ({hint})")
        if len(reasons) == 3:
            break
    more = len(strange) - len(reasons)
    if counts.get("", 0):
        reasons.append(f"no code at all in {counts['']}")
    return (
        f"'{dimension.name}' must be a leaf of its hierarchy; it is not in {sum(counts.values())} records: "
        f"{'; '.join([*reasons, *([f'{more} other texts, not repeated here'] if more else [])])}"
    )


def unclear_name(column: str, count: int) -> str:
    return f"'{column}' is in {count} records {spelling.SAYS}"


def too_large(column: str) -> str:
    return f"'{column}' is too large: it must stay below 2 ** 53 units of its last decimal."


def too_fine(column: str) -> DataError:
    says = f"'{column}' has more than {MOST_DECIMALS} decimals; say how many the table shall have"
    return MeasureChoiceError(says, "decimals")
