"""The records of a DuckDB table as SQL that a table can be added up from, checked as `numbered_records` does."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sluice.ground.errors import DataError
from sluice.ground.values import BLANKS, NUMBER
from sluice.ground.visible_text import BLANK_RUN, DASH, UNCLEAR, UNSEEN_RUN, same_but_for_capitals
from sluice.tabular.model import numbered_records
from sluice.tabular.model.column_values import (
    light_weight,
    missing_value,
    negative_value,
    no_leaf,
    too_fine,
    too_large,
    without,
)
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS, Measure

if TYPE_CHECKING:
    import duckdb

_HASH_DIGITS = 15  # of 4 bits: what fits into a number
_EACH = "row_number() OVER () - 1"  # every record is of a contributor of its own
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_PLACES = range(MOST_DECIMALS + 4)


class RecordQuery:
    """The records of a table, by the rules of a measure.

    raises   : DataError for a column that is absent; `check` for the rest, see `records_of`
    rows     : SQL of the columns d0, d1, ... (codes), owner, own (the contributor, where owner is a holding), value (in
               units of 10 ** -decimals), and if `weighted` the weighted value and the weight in units of 1 / unit
    records  : how many there are, without the `left_out`, which have no value
    numbered : owner is a number, not a name
    alone    : every record is of an owner of its own
    respelled : how many names of owners were read as what they look like
    joined   : how many of them were taken for another that differs in capital letters alone
    """

    def __init__(
        self, engine: "duckdb.DuckDBPyConnection", table: str, dimensions: Sequence[Dimension], measure: Measure
    ) -> None:
        self.engine, self.table, self.dimensions, self.measure = engine, quoted(table), dimensions, measure
        described = engine.execute(f"DESCRIBE {self.table}").fetchall()
        self.types = {str(row[0]): str(row[1]) for row in described}
        for name in (*(dimension.name for dimension in dimensions), *measure.columns):
            if name not in self.types:
                raise DataError(f"the records have no column '{name}'.", came=name, allowed=self.types)
        self.records = self.left_out = self.decimals = 0
        self.unit = 1
        self.weighted = False
        self.counted = f"WHERE NOT {self._missing(measure.value)}" if measure.value else ""
        self.joined = 0
        self._in_small: dict[str, list[str]] = {}
        self._respelled = self._unclear_names()
        self._join_capitals()
        self.owner, self.numbered = self._owner()
        self.alone = self.owner == _EACH

    @property
    def alike(self) -> int:
        """How many names of contributors are those of others but for capital letters, and may be others."""
        if self.numbered or self.measure.hashed:
            return 0
        counted = f"count(DISTINCT {self.owner}) - count(DISTINCT lower({self.owner}))"
        return int(self._one({"alike": counted}, where=self.counted)["alike"])

    def owners_with(self, column: str, value: str) -> list[int]:
        """The numbers of those who have a record with this text in this column."""
        select = f"SELECT DISTINCT {self.owner} FROM {self.table} WHERE {self._code(column)} = {text(value)}"
        return sorted(int(owner) for (owner,) in self.engine.execute(select).fetchall() if owner is not None)

    @property
    def rows(self) -> str:
        codes = [f"{self._code(dimension.name)} AS d{axis}" for axis, dimension in enumerate(self.dimensions)]
        own = [f"{self._name(self.measure.contributor)} AS own"] if self.measure.contributor else []
        weight = [f"{self._weighted} AS weighted", f"{self._weight} AS weight"] if self.weighted else []
        columns = [*codes, f"{self.owner} AS owner", *own, f"{self._value} AS value", *weight]
        return f"SELECT {', '.join(columns)} FROM {self.table} {self.counted}"

    def check(self) -> None:
        """Refuse what cannot be added up; find out how many decimals there are."""
        measure = self.measure
        ask: dict[str, str] = {"all": "count(*)"}
        for role, name in (("value", measure.value), ("weight", measure.weight)):
            if name is None:
                continue
            number = self._number(name)
            ask[f"{role} missing"] = f"count(*) FILTER ({self._missing(name)})"
            ask[f"{role} strange"] = f"count(*) FILTER (NOT {self._missing(name)} AND {number} IS NULL)"
            ask[f"{role} infinite"] = f"count(*) FILTER (NOT isfinite({number}))"
            ask[f"{role} largest"] = f"max(abs({number}))"
            for places in _PLACES:
                ask[f"{role} {places}"] = (
                    f"coalesce(bool_and(round_even({number} * 1e{places}, 0) / 1e{places} = {number}), true)"
                )
        if measure.value:
            ask["negative"] = f"count(*) FILTER ({self._number(measure.value)} < 0)"
        if measure.weight:
            ask["light"] = f"count(*) FILTER ({self._number(measure.weight)} < 1)"
        for role, name in (("contributor", measure.contributor), ("holding", measure.holding)):
            if name is not None:
                ask[role] = f"count(*) FILTER ({self._missing(name)})"
        found = self._one(ask)
        self.left_out = found.get("value missing", 0)
        self.records = found["all"] - self.left_out
        if self.left_out and measure.missing == "refuse":
            raise missing_value(str(measure.value), self.left_out)
        if not self.records:
            raise DataError("there is no record to make a table of.")
        self._check_codes()
        if found.get("contributor"):
            raise without(str(measure.contributor), "contributor", found["contributor"])
        if found.get("holding") and measure.contributor is None:
            raise without(str(measure.holding), "holding", found["holding"], "; name a contributor")
        self._scale(found)

    def _scale(self, found: Mapping[str, Any]) -> None:
        """Set `value`, `weighted` and `weight`, the expressions for whole units, and the table's decimals."""
        measure = self.measure
        stated = None if measure.weight else measure.decimals  # a weighted value is rounded once, when it is weighted
        places = self._places("value", measure.value, stated, found) if measure.value else 0
        if found.get("negative") and measure.negative == "refuse":
            raise negative_value(str(measure.value), found["negative"])
        units = self._units(measure.value, places) if measure.value else "1::BIGINT"
        self.decimals = places if stated is None or not measure.value else stated
        largest = float(found.get("value largest") or 1) * 10.0**places
        if largest * 10.0 ** max(self.decimals - places, 0) >= 2**53:
            raise DataError(too_large(str(measure.value)))
        self._value = _to_decimals(units, places, self.decimals)
        if measure.weight is None:
            return
        if found["weight missing"]:
            raise without(measure.weight, "weight", found["weight missing"])
        weight_places = self._places("weight", measure.weight, None, found)
        if found["light"]:
            raise DataError(light_weight(measure.weight, found["light"]))
        weight = self._units(measure.weight, weight_places)
        fine = self.decimals + weight_places
        size = largest * 10.0 ** (self.decimals - places) * float(found["weight largest"]) * 10.0**weight_places
        wanted = numbered_records.weighted_decimals(measure, fine, size)
        weighted = _to_decimals(f"({self._value} * {weight})", fine, wanted)
        if measure.weight_rule == "gconfid_exact":
            self._value = weighted
        else:
            self._value = _to_decimals(self._value, self.decimals, wanted)
            self._weight, self._weighted, self.unit, self.weighted = weight, weighted, 10**weight_places, True
        self.decimals = wanted

    def _places(self, role: str, column: str, decimals: int | None, found: Mapping[str, Any]) -> int:
        if found[f"{role} strange"]:
            raise DataError(f"'{column}' must be a number; it is not in {found[f'{role} strange']} records.")
        if found[f"{role} infinite"]:
            raise DataError(f"'{column}' must be finite; it is not in {found[f'{role} infinite']} records.")
        largest = float(found[f"{role} largest"])
        if largest >= 2**53:
            raise DataError(too_large(column))
        exact = [places for places in _PLACES if found[f"{role} {places}"] and largest * 10.0**places < 2**53]
        if exact and (decimals is not None or exact[0] <= MOST_DECIMALS):
            return exact[0]
        if decimals is None:
            raise too_fine(column)
        return decimals

    def _units(self, column: str, places: int) -> str:
        return f"round_even({self._number(column)} * 1e{places}, 0)::BIGINT"

    def _owner(self) -> tuple[str, bool]:
        """The expression that says whose a record is, and whether it is a number already."""
        measure = self.measure
        if measure.holding is None and measure.contributor is None:
            return _EACH, True
        if measure.hashed:
            hashes = [name for name in (measure.holding, measure.contributor) if name is not None]
            numbers = (f"('0x' || nullif(left({self._code(name)}, {_HASH_DIGITS}), ''))::BIGINT" for name in hashes)
            return f"coalesce({', '.join(numbers)})", True
        name = measure.holding or str(measure.contributor)
        whole = self.types[name] in _WHOLE
        found = self._one(
            {
                "none": f"count(*) FILTER ({self._missing(name)})",
                "below": f"count(*) FILTER ({quoted(name)} < 0)" if whole else "0",
            }
        )
        if whole and not found["none"] and not found["below"]:
            return f"{quoted(name)}::BIGINT", True
        if measure.holding is None or measure.contributor is None or not found["none"]:
            return self._name(name), False
        own = self._name(measure.contributor)
        return (
            f"CASE WHEN {self._missing(name)} THEN 'contributor ' || {own} ELSE 'holding ' || {self._name(name)} END",
            False,
        )

    def _unclear_names(self) -> dict[str, int]:
        """The columns of contributors and holdings that are not spelled in one way, and how many names of each."""
        columns = [name for name in (self.measure.contributor, self.measure.holding) if name is not None]
        texts = [name for name in columns if self.types[name] == "VARCHAR" and not self.measure.hashed]
        ask = {
            name: f"count(DISTINCT {quoted(name)}) FILTER (regexp_matches({_trimmed(quoted(name))}, {text(UNCLEAR)}) "
            f"OR nfc_normalize({quoted(name)}) <> {quoted(name)})"
            for name in texts
        }
        found = self._one(ask) if ask else {}
        return {name: int(count) for name, count in found.items() if count}

    def _join_capitals(self) -> None:
        """Find the names that differ in capital letters alone and are certainly one; see `same_but_for_capitals`."""
        for name in (self.measure.contributor, self.measure.holding):
            if name is None or self.types[name] != "VARCHAR" or self.measure.hashed:
                continue
            each = self._name(name)
            several = (
                f"SELECT unnest(list(DISTINCT {each})) FROM {self.table} GROUP BY lower({each}) "
                f"HAVING count(DISTINCT {each}) > 1"
            )
            alike = same_but_for_capitals(str(row[0]) for row in self.engine.execute(several).fetchall())
            if alike:
                self.joined += sum(alike.values())
                self._in_small[name] = sorted(alike)

    @property
    def respelled(self) -> int:
        return sum(self._respelled.values())

    def _name(self, column: str) -> str:
        """Whose a record is: names that look the same are the same; see `as_they_look`."""
        name = self._code(column)
        if column in self._respelled:
            seen = f"regexp_replace({quoted(column)}, {text(BLANK_RUN)}, ' ', 'g')"
            seen = f"regexp_replace({seen}, {text(UNSEEN_RUN)}, '', 'g')"
            seen = f"regexp_replace({seen}, {text(DASH)}, '-', 'g')"
            name = f"coalesce({_trimmed(f'nfc_normalize({seen})')}, '')"
        if small := self._in_small.get(column):
            name = f"CASE WHEN lower({name}) IN ({', '.join(map(text, small))}) THEN lower({name}) ELSE {name} END"
        return name

    def _check_codes(self) -> None:
        for dimension in self.dimensions:
            leaves = {dimension.codes[leaf] for leaf in dimension.leaves}
            code = self._code(dimension.name)
            counts = self.engine.execute(
                f"SELECT {code}, count(*) FROM {self.table} {self.counted} GROUP BY 1"
            ).fetchall()
            strange = {str(code): int(count) for code, count in counts if code not in leaves}
            if strange:
                raise DataError(no_leaf(dimension, strange))

    def _one(self, ask: Mapping[str, str], where: str = "") -> dict[str, Any]:
        row = self.engine.execute(f"SELECT {', '.join(ask.values())} FROM {self.table} {where}").fetchone()
        return dict(zip(ask, row or (), strict=True))

    def _missing(self, column: str) -> str:
        name = quoted(column)
        return f"({name} IS NULL OR {_trimmed(name)} = '')" if self.types[column] == "VARCHAR" else f"({name} IS NULL)"

    def _code(self, column: str) -> str:
        if self.types[column] in ("DOUBLE", "FLOAT"):
            raise DataError(f"'{column}' must be text or whole numbers; got numbers with decimals.")
        return f"coalesce({_trimmed(f'{quoted(column)}::VARCHAR')}, '')"

    def _number(self, column: str) -> str:
        name = quoted(column)
        if self.types[column] != "VARCHAR":
            return f"{name}::DOUBLE"
        return f"(CASE WHEN regexp_full_match({_trimmed(name)}, {text(NUMBER)}) THEN {_trimmed(name)}::DOUBLE END)"


def _trimmed(expression: str) -> str:
    """Without blanks at its ends: DuckDB's own idea of them leaves tabs and line ends."""
    return f"trim({expression}, {text(BLANKS)})"


def _to_decimals(units: str, given: int, wanted: int) -> str:
    """Whole units at other decimals, half to even."""
    if wanted >= given:
        return f"({units} * {10 ** (wanted - given)})"
    by = 10 ** (given - wanted)
    whole, rest = f"(abs({units}) // {by})", f"(abs({units}) % {by})"
    up = f"(CASE WHEN 2 * {rest} > {by} OR (2 * {rest} = {by} AND {whole} % 2 = 1) THEN 1 ELSE 0 END)"
    return f"(sign({units}) * ({whole} + {up}))::BIGINT"


def quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
