"""Whether a definition of tables fits its contract and its policy; said before a record is read."""

from dataclasses import replace
from pathlib import Path

from policies.policy import Policy
from schemas.contract import HASHED, Contract
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.variables import Kind, Role, Variable
from sluice.publication.sdmx import refuse_unfit_for_sdmx
from sluice.tabular.model.cells import levels_of, refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS, Measure
from sluice.tabular.rules.intruders import status_tells_more
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.specification import TableDimension


def refuse_unfit_tables(path: Path, definition: TablesDefinition, contract: Contract, policy: Policy) -> None:
    """Raise DocumentError, by the field of the definition, unless the tables can be made and judged."""
    measure = definition.measure
    for index, dimension in enumerate(definition.dimensions):
        where = f"{path}: dimensions.{index}"
        variable = _known(contract, dimension.variable, f"{where}.variable")
        if not variable.kind.is_categorical:
            raise DocumentError(
                f"{where}.variable: '{variable.name}' must be nominal, ordinal or binary; it is {variable.kind}"
            )
        try:
            codes = dimension_of(dimension, contract, definition.cells is not None)
        except DataError as error:
            raise DocumentError(f"{where}.hierarchy: {error}") from None
        _refuse_other_categories(where, variable, codes, totals=definition.cells is not None)
        for code in dimension.withheld:
            if code not in codes.position:
                raise DocumentError(f"{where}.withheld: no code '{code}'.", came=code, allowed=codes.codes)
    dimensions = [dimension_of(each, contract, definition.cells is not None) for each in definition.dimensions]
    for index, table in enumerate(definition.tables):
        try:
            levels_of(dimensions, table.dimensions)
        except DataError as error:
            raise DocumentError(f"{path}: tables.{index}.dimensions: {error}") from None
    try:
        refuse_hidden_ties(dimensions, definition.linked)
    except DataError as error:
        raise DocumentError(f"{path}: tables: {error}") from None
    if definition.form.sdmx_dataflow is not None:
        try:
            refuse_unfit_for_sdmx(dimensions, definition.form.sdmx_dataflow, definition.form.time_period)
        except DataError as error:
            raise DocumentError(f"{path}: form.sdmx_dataflow: {error}") from None
    for place, alone in enumerate(definition.by_measure.values()):
        if alone.measure.variable is None:
            continue
        field = f"measures.{place}" if definition.measures else "measure.variable"
        summed = _known(contract, alone.measure.variable, f"{path}: {field}")
        if not summed.kind.is_numeric or summed.role in HASHED:
            raise DocumentError(
                f"{path}: {field}: '{summed.name}' must be a number to add up; it is {summed.kind} "
                f"with role {summed.role}"
            )
        if alone.measure.decimals is None and (summed.kind is not Kind.INTEGER or measure.weight is not None):
            # As many as the data show would be others in the next edition, which could not be compared with this one.
            what = f"'{summed.name}' is {summed.kind}" + (", and weighted" if measure.weight else "")
            raise DocumentError(
                f"{path}: measure.decimals: say how many decimals totals have in all editions, from 0 to "
                f"{MOST_DECIMALS}: {what}. Each value is rounded to them before it is added up"
            )
    for field, column in _numbers_of_cells(definition):
        number = _known(contract, column, f"{path}: {field}")
        if not number.kind.is_numeric or number.role in HASHED:
            raise DocumentError(
                f"{path}: {field}: '{column}' must be a number; it is {number.kind} with role {number.role}"
            )
    if definition.cells is not None:
        try:
            definition.cells.refuse_few_largest(definition.stricter(policy).table_rules, measure.variable is None)
        except DataError as error:
            raise DocumentError(f"{path}: cells.largest: {error}") from None
    for field, name in (("contributor", measure.contributor), ("holding", measure.holding)):
        if name is None:
            continue
        who = _known(contract, name, f"{path}: measure.{field}")
        if who.name not in contract.staged or who.role not in HASHED:
            raise DocumentError(
                f"{path}: measure.{field}: '{who.name}' must have the role contributor, holding or household, or be an "
                f"identifier of the record key; its role is {who.role}"
            )
    if measure.requested is not None:
        asks = _known(contract, measure.requested.variable, f"{path}: measure.requested.variable")
        for field, said in (("value", measure.requested.value), ("before", measure.requested.before)):
            if said is not None and said not in (asks.categories or ()):
                raise DocumentError(
                    f"{path}: measure.requested.{field}: must be one of the contract's categories of '{asks.name}': "
                    f"{', '.join(asks.categories or ['none'])}; got '{said}'"
                )
    if measure.requested is None and any(r.rule == "request_rule" for r in definition.stricter(policy).table_rules):
        raise DocumentError(f"{path}: measure.requested: request_rule needs to know who asked")
    counts = not definition.measures and measure.measure.counts is not None
    if definition.form.tell_primary and (counts or definition.tells_contributors):
        raise DocumentError(
            f"{path}: form.tell_primary: a reader who is told which suppressed counts are sensitive knows how small "
            "they are, and their sums disclose many; leave it out where counts, or numbers of contributors, "
            "are published"
        )
    rules = policy.table_rules
    if definition.form.tell_primary and status_tells_more(rules, policy.table_attackers.coalition):
        raise DocumentError(
            f"{path}: form.tell_primary: by these rules, the word 'primary' tells contributors how large the others' "
            "parts may be: those who pool what they know (table_attackers.coalition above 1), who asked for protection "
            "(request_rule), or where a cell of two may be safe (without minimum_frequency of 3 or p_percent); leave "
            "it out"
        )
    if measure.weight is not None:
        weight = _known(contract, measure.weight.variable, f"{path}: measure.weight.variable")
        if weight.role is not Role.WEIGHT:
            raise DocumentError(f"{path}: measure.weight.variable: '{weight.name}' must have the role weight")
    for_records: list[str] = [rule.rule for rule in policy.rules if not isinstance(rule, SensitivityRule)]
    if policy.reference_standard is not None:
        for_records.append("reference_standard")
    for_records += [rule.rule for rule in policy.attacks]
    if for_records:
        raise DocumentError(
            f"{path}: policy: '{policy.name}' judges files of records ({', '.join(for_records)}); tables need a policy "
            "of rules on table cells alone, such as minimum_frequency, dominance and p_percent"
        )


def measure_of(definition: TablesDefinition, contract: Contract) -> Measure:
    """What cells add up. Without a contributor, a record counts as one: by its key, so that editions know it again."""
    measure = definition.measure.measure
    if definition.cells is not None:
        return measure  # decimals of cells are those asked for; nobody is known by name
    if measure.value is not None and measure.weight is None and contract.by_name[measure.value].kind is Kind.INTEGER:
        measure = replace(measure, decimals=measure.decimals or 0)  # declared, whatever the data show
    keys = [name for name in contract.record_key if contract.by_name[name].role in HASHED]
    if measure.contributor is None and measure.holding is None and len(keys) == len(contract.record_key) == 1:
        return replace(measure, contributor=keys[0], hashed=True)
    return replace(measure, hashed=measure.contributor is not None or measure.holding is not None)


def dimension_of(dimension: TableDimension, contract: Contract, totals: bool = False) -> Dimension:
    """The codes and sums of a dimension. Raises DataError when its hierarchy is none.

    totals : the data are cells, and have its total
    """
    return dimension.dimension(lambda: _rows_of_contract(contract.by_name[dimension.variable], dimension.total, totals))


def _rows_of_contract(variable: Variable, total: str, totals: bool) -> list[tuple[str, str]]:
    """(code, parent) of the contract's hierarchy, whose one widest group is the total; or of its categories alone,
    of cells but for the total among them."""
    if not variable.categories and variable.hierarchy is None:
        raise DataError(
            f"'{variable.name}' needs a hierarchy, or categories in the contract; else its codes are unknown"
        )
    if variable.hierarchy is None:
        return [(total, ""), *((each, total) for each in variable.categories or () if each != total or not totals)]
    parent: dict[str, str] = {total: ""}
    for leaf in variable.categories or variable.hierarchy.rows:
        path = [leaf, *variable.hierarchy.rows[leaf]]
        if len({levels[-1] for levels in variable.hierarchy.rows.values()}) == 1:
            path.pop()
        for code, above in zip(path, [*path[1:], total], strict=True):
            if code != above:  # a group that keeps its name from level to level is one code
                parent[code] = above
    return list(parent.items())


def _known(contract: Contract, name: str, where: str) -> Variable:
    if name not in contract.by_name:
        raise DocumentError(f"the contract has no variable '{name}'.", field=where, came=name, allowed=contract.by_name)
    return contract.by_name[name]


def _numbers_of_cells(definition: TablesDefinition) -> list[tuple[str, str]]:
    """The fields of a definition that name the columns of cells' numbers, and the names."""
    cells = definition.cells
    if cells is None:
        return []
    return [("cells.frequency", cells.frequency), *((f"cells.largest.{at}", n) for at, n in enumerate(cells.largest))]


def _refuse_other_categories(where: str, variable: Variable, dimension: Dimension, totals: bool) -> None:
    """totals: of cells, which have codes of all levels"""
    known = {*dimension.codes} if totals else {dimension.codes[leaf] for leaf in dimension.leaves}
    other = sorted(set(variable.categories or ()) - known)
    if other:
        what = "codes" if totals else "leaves"
        raise DocumentError(
            f"{where}.hierarchy: the contract's categories of '{variable.name}' must be its {what}; not among "
            f"them: {', '.join(other[:3])}{', ...' if len(other) > 3 else ''}.",
            came=other[0],
            allowed=known,
        )
