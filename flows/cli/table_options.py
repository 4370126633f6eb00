"""The options of the commands on tables: hierarchies, rules, tables, methods."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from policies.rules.rules import TablePolicyRule
from policies.rules.rules import rules as rules_of
from sluice.ground.document_faults import faults
from sluice.ground.errors import DocumentError
from sluice.sources.hierarchy_file import read_dimension
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.protection_method import Alteration, Protection, SecondarySuppression
from tasks.workbench.cells_files import OWN_WORDS, CellColumns
from tasks.workbench.tabulation import dimension_in


def dimensions_given(written: Sequence[str], source: Path, totals: bool = False) -> list[Dimension]:
    """The dimensions that were written as NAME=FILE; a name given again is a further grouping of its leaves.

    Of a NAME alone the codes in the source add up to 'Total'.

    source : with a column for each dimension: records, or cells (then `totals`), or a folder of such files
    raises : DocumentError for another form; DataError for what is wrong in a file
    """
    files: dict[str, list[Path]] = {}
    for each in written:
        name, equals, path = each.partition("=")
        if not name or bool(equals) != bool(path) or (not path and name.endswith(".csv")):
            raise DocumentError(f"must be NAME=FILE, or the NAME of a column alone; got '{each}'", field="--hierarchy")
        files.setdefault(name, []).extend([Path(path)] if path else [])
    if not files:
        raise DocumentError(
            "a table has at least one dimension; give NAME=FILE, or NAME, for each", field="--hierarchy"
        )
    return [
        read_dimension(name, paths) if paths else dimension_in(source, name, totals) for name, paths in files.items()
    ]


def files_given(written: Sequence[str]) -> list[Path]:
    """The files that were written as NAME=FILE."""
    return [Path(path) for each in written if (path := each.partition("=")[2])]


def rules_given(written: Sequence[str]) -> list[SensitivityRule]:
    """The rules that were written as RULE=NUMBERS, such as p_percent=10 or dominance=2,85.

    The numbers are the thresholds of the rule in a policy, in their order; those that have a default may be left out.

    raises : DocumentError
    """
    known = rules_of(TablePolicyRule)
    rules: list[SensitivityRule] = []
    for each in written:
        name, _, numbers = each.partition("=")
        if name not in known:
            raise DocumentError(f"one of {', '.join(known)}; got '{name}'.", field="--rule", came=name, allowed=known)
        thresholds = [field for field in known[name].model_fields if field not in ("rule", "waivable")]
        given = [number.strip() for number in numbers.split(",")] if numbers else []
        if len(given) > len(thresholds):
            raise DocumentError(f"--rule {name}: takes {_in_order(thresholds)}; got {len(given)} numbers")
        try:
            rule = known[name].model_validate({"rule": name, **dict(zip(thresholds, given, strict=False))})
            assert isinstance(rule, SensitivityRule)
            rules.append(rule)
        except ValidationError as error:
            says = faults(error.errors(), known[name])[0]
            raise DocumentError(f"--rule {each}: {says}; it takes {_in_order(thresholds)}") from None
    return rules


def tables_given(written: Sequence[str]) -> list[tuple[str, ...]] | None:
    """The tables that were written as NAME,NAME: the dimensions of each; None when nothing is, for one of all."""
    return [tuple(name.strip() for name in each.split(",")) for each in written] or None


def columns_given(status: str | None, value: str, words: Sequence[str], hide_values: bool) -> CellColumns:
    """How a file of cells tells what is suppressed; its words are written as WORD=OURS. Raises DocumentError."""
    meant = {}
    for each in words:
        word, _, own = each.rpartition("=")
        if not word or own not in OWN_WORDS:
            raise DocumentError(
                f"must be WORD=OURS with one of {', '.join(OWN_WORDS)}; got '{each}'", field="--status-word"
            )
        meant[word] = own
    return CellColumns(status, value, meant, hide_values)


def method_given(written: str, **of_suppression: Any) -> Protection:
    """The method that was written as NAME=NUMBERS, such as controlled_rounding=5 or cell_key=5,2.5.

    The numbers are the parameters of the method in a release, in their order; those that have a default may be left
    out, or empty before others: controlled_adjustment=,2. Suppression takes options of its own instead.

    of_suppression : by option; None for one that is not given
    raises         : DocumentError
    """
    models: tuple[type[SecondarySuppression | Alteration], ...] = get_args(get_args(Protection)[0])
    known = {get_args(model.model_fields["method"].annotation)[0]: model for model in models}
    name, _, numbers = written.partition("=")
    if name not in known:
        raise DocumentError(f"one of {', '.join(known)}; got '{name}'.", field="--method", came=name, allowed=known)
    options = {option: value for option, value in of_suppression.items() if value is not None}
    if known[name] is SecondarySuppression:
        if numbers:
            raise DocumentError(f"--method suppression: takes no numbers but options; got '{numbers}'")
        try:
            return SecondarySuppression.model_validate(options)
        except ValidationError as error:
            raise DocumentError(f"--{faults(error.errors(), SecondarySuppression)[0]}") from None
    if options:
        dashed = ", ".join(f"--{option.replace('_', '-')}" for option in options)
        raise DocumentError(f"only for --method suppression; got {name}", field=dashed)
    fields = [field for field in known[name].model_fields if field != "method"]
    given = [number.strip() for number in numbers.split(",")] if numbers else []
    if len(given) > len(fields):
        raise DocumentError(f"--method {name}: takes {_in_order(fields)}; got {len(given)} numbers")
    try:
        parameters = {field: number for field, number in zip(fields, given, strict=False) if number}
        return known[name].model_validate({"method": name, **parameters})
    except ValidationError as error:
        says = faults(error.errors(), known[name])[0]
        raise DocumentError(f"--method {written}: {says}; it takes {_in_order(fields)}") from None


def _in_order(names: Sequence[str]) -> str:
    return ", then ".join(names) or "no numbers"
