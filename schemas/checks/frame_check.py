"""Does a typed frame keep its contract? pandera looks; what leaves here is column, check and count, never a value.

pandera's own errors carry the failing values (in their text and in `failure_cases`), so none of them leaves this file.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.config import ValidationDepth, config_context

from schemas.contract import Contract, CrossFieldRule
from schemas.cross_field import CrossFieldExpression
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.values import moment
from sluice.ground.variables import Kind, Variable, Variables, as_label
from sluice.ground.verdict import Finding, Verdict
from sluice.items.item_sets import ItemSets

_DTYPES = {Kind.CONTINUOUS: "float64", Kind.INTEGER: "Int64", Kind.DATE: "datetime64[us]", Kind.TEXT: "str"}


_STRUCTURE = ("column_in_dataframe", "column_in_schema", "column_ordered")
_SAYS = Sentences(
    "frame",
    keeps="All {records:,} records match the declaration of their {variables} columns.",
    column_in_dataframe="'{column}': a column of the contract is missing from the table.",
    column_in_schema="'{column}': the table has a column that is not declared.",
    column_ordered="'{column}': the columns are not in the declared order.",
    kind="'{column}': not stored as {kind}.",
    all_missing="'{column}': every value is missing; leave the variable out.",
    missing="'{column}': {records:count_record} without a value.",
    missing_share="'{column}': a share of {share:.4g} of the records has no value; {limit:g} is allowed.",
    finite="'{column}': {records:count_record} infinite.",
    items="'{column}': {records:count_record} with an item that is not declared, or a set not in its canonical form.",
    categories="'{column}': {records:count_record} with a category that is not declared.",
    category_order="'{column}': the categories are not the declared ones in the declared order.",
    minimum="'{column}': {records:count_record} below the minimum, {bound}.",
    maximum="'{column}': {records:count_record} above the maximum, {bound}.",
    rows_minimum="The table has {records:count_record}; at least {limit} are allowed.",
    rows_maximum="The table has {records:count_record}; at most {limit} are allowed.",
    record_key="{records:count_record} with the same key ({key:commas}) as another record.",
    rule="{records:count_record} against the rule: {rule}.",
    not_made="The check '{check}' could not be made.",
    not_made_of_column="'{column}': the check '{check}' could not be made.",
)


CONTRACT = (
    Declaration(
        "contract",
        helps="Mend the data at the source, or the contract if it is out of date; masking cannot cure this.",
    ),
    Declaration(
        "contract.kind",
        helps="The column is not stored as declared: see how the source writes it, or correct its kind in the "
        "contract.",
    ),
    Declaration(
        "contract.all_missing",
        helps="The column is empty: see whether the extract left it out, and take it out of the contract if it is gone "
        "for good.",
    ),
    Declaration(
        "contract.missing",
        helps="Values are missing where the contract allows none: complete them at the source, or declare the variable "
        "nullable.",
    ),
    Declaration(
        "contract.missing_share",
        helps="More values are missing than usual: see what failed in the collection, or raise max_missing_share with "
        "the owner's consent.",
    ),
    Declaration(
        "contract.minimum",
        helps="Values lie below the declared minimum: look for codes of missing values and wrong units, or correct the "
        "minimum.",
    ),
    Declaration(
        "contract.maximum",
        helps="Values lie above the declared maximum: look for codes such as 999 and wrong units, or correct the "
        "maximum.",
    ),
    Declaration(
        "contract.finite",
        helps="The column holds infinite numbers, mostly from a division by zero: correct the computation at the "
        "source.",
    ),
    Declaration(
        "contract.categories",
        helps="The column holds categories that are not declared: map their spellings at the source, or add new ones "
        "to the contract.",
    ),
    Declaration(
        "contract.category_order",
        helps="The categories stand in another order than declared: write the order of the ordinal scale into the "
        "contract.",
    ),
    Declaration(
        "contract.record_key",
        helps="Records share the record key: find out whether people stand twice in the extract, or complete the key "
        "by another column.",
    ),
    Declaration(
        "contract.rule",
        helps="Records contradict a rule across fields: correct them at the source, or ask the owner whether the rule "
        "still holds.",
    ),
    Declaration(
        "contract.rows_minimum",
        helps="The extract is too short: see whether the query was filtered or the load broke off, and read it again.",
    ),
    Declaration(
        "contract.rows_maximum",
        helps="The extract is too long: look for a join that repeats records, or raise the maximum in the contract.",
    ),
    Declaration(
        "contract.column_in_dataframe",
        helps="A declared column is missing: see whether it was renamed at the source, and correct the query or the "
        "contract.",
    ),
    Declaration(
        "contract.column_in_schema",
        helps="There is a column that nobody declared: declare it with its role, or leave it out of the query.",
    ),
    Declaration(
        "contract.column_ordered",
        helps="The columns stand in another order than declared: correct the order in the query or in the contract.",
    ),
    Declaration(
        "released_table",
        helps="The masked file is not as the plan describes it: correct the step that makes this column, or what it "
        "declares of its values.",
    ),
)


@dataclass(frozen=True)
class _Condition:
    """What must hold of a column or of the whole table, and how a breach of this size is put into words."""

    check: str
    holds: Callable[[Any], Any]  # a column or the table -> bool, or a bool for each record
    says: Callable[[Any], Saying]
    observes: Callable[[Any], float] | None = None  # instead of the number of records
    limit: float = 0
    scope: str = "table"  # of a condition on the table

    def as_check(self) -> pa.Check:
        # the condition itself decides about missing values; one failure case, for only the count is of use
        return pa.Check(self.holds, name=self.check, ignore_na=False, n_failure_cases=1)


def check_frame(frame: pd.DataFrame, contract: Contract) -> list[Finding]:
    """The staged frame against its contract: one PASS finding, or one finding a column and check that fails.

    frame : typed as `contract.staged`, any index (it is ignored)
    cost  : O(n) for each check; the record key is hashed
    """
    return _findings(frame, contract.staged, _table_conditions(contract), "contract", "contract")


def check_released(frame: pd.DataFrame, variables: Variables) -> list[Finding]:
    """A masked frame against the variables that the plan promises; findings as those of `check_frame`."""
    return _findings(frame, variables, _row_conditions(1, None), "released_table", "masked")


def _schema(variables: Variables, table: list[_Condition]) -> pa.DataFrameSchema:
    columns = {
        name: pa.Column(None, [condition.as_check() for condition in _conditions(variable)], nullable=True)
        for name, variable in variables.items()
    }
    return pa.DataFrameSchema(columns, [condition.as_check() for condition in table], strict=True, ordered=True)


def _conditions(variable: Variable) -> Iterator[_Condition]:
    """What must hold of one column."""
    name = variable.name
    yield _Condition(
        "kind", lambda series: _has_kind(series, variable), lambda _: _SAYS.kind(column=name, kind=variable.kind)
    )
    yield _Condition(
        "all_missing",
        lambda series: series.notna().any(),
        lambda _: _SAYS.all_missing(column=name),
    )
    if not variable.nullable:
        yield _Condition(
            "missing", lambda series: series.notna(), lambda count: _SAYS.missing(column=name, records=count)
        )
    if (share := variable.max_missing_share) is not None:
        yield _Condition(
            "missing_share",
            lambda series: bool(series.isna().mean() <= share),
            lambda found: _SAYS.missing_share(column=name, share=found, limit=share),
            observes=lambda series: float(series.isna().mean()),
            limit=share,
        )
    if variable.minimum is not None:
        yield _bound(variable, "minimum", operator.ge)
    if variable.maximum is not None:
        yield _bound(variable, "maximum", operator.le)
    if variable.kind is Kind.CONTINUOUS:
        yield _Condition(
            "finite", lambda series: ~np.isinf(series), lambda count: _SAYS.finite(column=name, records=count)
        )
    if variable.kind is Kind.ITEMS:
        yield _Condition(
            "items",
            lambda series: _holds_sets(series, variable),
            lambda count: _SAYS.items(column=name, records=count),
        )
    if variable.categories is not None:
        declared = list(variable.categories)
        yield _Condition(
            "categories",
            lambda series: series.isna() | series.isin(declared),
            lambda count: _SAYS.categories(column=name, records=count),
        )
        yield _Condition(
            "category_order",
            lambda series: _has_order(series, declared),
            lambda _: _SAYS.category_order(column=name),
        )


def _bound(variable: Variable, side: str, keeps: Callable[[Any, Any], Any]) -> _Condition:
    declared = getattr(variable, side)
    bound = moment(str(declared), side == "maximum") if variable.kind is Kind.DATE else float(declared)

    def holds(series: "pd.Series[Any]") -> Any:
        values = series if variable.kind is Kind.DATE else series.astype("float64")
        return values.isna() | keeps(values, bound)

    said = getattr(_SAYS, side)
    return _Condition(side, holds, lambda count: said(column=variable.name, records=count, bound=as_label(declared)))


def _table_conditions(contract: Contract) -> list[_Condition]:
    """What must hold of the table as a whole: number of records, record key, cross-field rules."""
    conditions = _row_conditions(contract.rows.minimum, contract.rows.maximum)
    if contract.record_key:
        key = list(contract.record_key)
        conditions.append(
            _Condition(
                "record_key",
                lambda frame: ~frame.duplicated(key, keep=False),
                lambda count: _SAYS.record_key(records=count, key=key),
                scope=", ".join(key),
            )
        )
    return conditions + [_rule_condition(rule, contract.expressions[rule.name]) for rule in contract.rules]


def _rule_condition(rule: CrossFieldRule, expression: CrossFieldExpression) -> _Condition:
    return _Condition(
        f"rule:{rule.name}",
        lambda frame: pd.Series(expression.holds(frame), index=frame.index),
        lambda count: _SAYS.rule(records=count, rule=rule.says.rstrip(".")),
        scope=rule.name,
    )


def _row_conditions(minimum: int, maximum: int | None) -> list[_Condition]:
    def condition(check: str, holds: Callable[[int], bool], limit: int) -> _Condition:
        return _Condition(
            check,
            lambda frame: holds(len(frame)),
            lambda count: getattr(_SAYS, check)(records=int(count), limit=limit),
            observes=lambda frame: float(len(frame)),
            limit=limit,
        )

    conditions = [condition("rows_minimum", lambda n: n >= minimum, minimum)]
    if maximum is not None:
        conditions.append(condition("rows_maximum", lambda n: n <= maximum, maximum))
    return conditions


def _has_kind(series: "pd.Series[Any]", variable: Variable) -> bool:
    if variable.kind.is_categorical:
        return isinstance(series.dtype, pd.CategoricalDtype) and all(isinstance(c, str) for c in series.cat.categories)
    return bool(series.dtype == _DTYPES[variable.kind])


def _holds_sets(series: "pd.Series[Any]", variable: Variable) -> Any:
    """Told only of categories, by each distinct set once: the check of kind tells the rest."""
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return True
    texts = pd.Series(series.cat.categories, dtype="str")
    sets = ItemSets.of(texts, variable.between_items)
    holds = (sets.column(variable.between_items, texts.index).astype("str") == texts).to_numpy()
    if (declared := variable.declared_items) is not None:
        foreign = ~np.isin(np.asarray(sets.names, dtype=object), np.asarray(declared, dtype=object))
        holds = holds & (np.bincount(sets.rows, foreign[sets.items], len(sets)) == 0)
    return pd.Series(np.append(holds, True)[series.cat.codes.to_numpy()], index=series.index)


def _has_order(series: "pd.Series[Any]", declared: list[str]) -> bool:
    """Told only of categories, and when none is foreign: the checks of kind and of categories tell the rest."""
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return True
    found = list(series.cat.categories)
    return found == declared or not set(found) <= set(declared)


def _findings(
    frame: pd.DataFrame, variables: Variables, table: list[_Condition], rule: str, stage: str
) -> list[Finding]:
    frame = frame.reset_index(drop=True)
    n = len(frame)
    failures = _failures(frame, _schema(variables, table))
    if not n:  # of no record, the columns have nothing to say
        failures = [failure for failure in failures if failure[1] == "rows_minimum"]
    conditions = {("", condition.check): condition for condition in table}
    conditions |= {(name, c.check): c for name, variable in variables.items() for c in _conditions(variable)}
    findings = [
        _finding(frame, column, check, output, conditions.get((column, check))).model_copy(
            update={"rule": f"{rule}.{check.partition(':')[0]}", "stage": stage}
        )
        for column, check, output in failures
    ]
    if findings:
        return findings
    says = _SAYS.keeps(records=n, variables=len(variables))
    return [
        Finding(
            rule=rule, verdict=Verdict.PASS, **as_fields(says), scope="table", stage=stage, attempted=n, completed=n
        )
    ]


def _finding(frame: pd.DataFrame, column: str, check: str, output: Any, condition: _Condition | None) -> Finding:
    """One failure in words: its column or scope, and how large it is."""
    verdict, observed, limit = Verdict.FAIL, None, None
    if check in _STRUCTURE:
        says = getattr(_SAYS, check)(column=column)
    elif condition is None or output is None:
        verdict = Verdict.UNKNOWN
        says = _SAYS.not_made_of_column(column=column, check=check) if column else _SAYS.not_made(check=check)
    else:
        if condition.observes is not None:
            observed = condition.observes(frame[column] if column else frame)
        elif isinstance(output, pd.Series):
            observed = int((~output.astype(bool)).sum())
        limit = condition.limit if observed is not None else None
        says = condition.says(observed)
    return Finding(
        rule=check,
        verdict=verdict,
        **as_fields(says),
        scope=column or (condition.scope if condition else "table"),
        observed=observed,
        limit=limit,
        attempted=len(frame),
        completed=len(frame) if verdict is Verdict.FAIL else 0,
    )


def _failures(frame: pd.DataFrame, schema: pa.DataFrameSchema) -> list[tuple[str, str, Any]]:
    """(column or '', check, output) of each check that failed; the output is None where the check itself broke."""
    errors: list[Any] = []
    try:
        # pandera's environment variables can turn it off or leave the data out; not here
        with config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            schema.validate(frame, lazy=True)
        return []
    except pa.errors.SchemaErrors as raised:
        errors = raised.schema_errors
    except Exception as raised:  # whatever it is, it may hold values
        return [("", type(raised).__name__, None)]
    failures: list[tuple[str, str, Any]] = []
    for error in errors:
        check = str(getattr(error.check, "name", None) or error.check)
        if check in _STRUCTURE:
            failures.append((str(error.failure_cases), check, True))
            continue
        column = str(error.schema.name) if isinstance(error.schema, pa.Column) else ""
        broke = error.reason_code is pa.errors.SchemaErrorReason.CHECK_ERROR
        failures.append((column, check, None if broke else _plain(error.check_output)))
    return failures or [("", "pandera", None)]  # it failed: nothing to tell is not a pass


def _plain(output: Any) -> Any:
    """A result for each record as a Series, one for the whole as a bool."""
    return output if isinstance(output, pd.Series) else bool(output)
