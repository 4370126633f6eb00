"""How a command is told of a table: by a file (`--spec`), by options for what is used most, by `--set` for all else.

An option takes the place of what the file says.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from sluice.ground.errors import DocumentError

if TYPE_CHECKING:
    from tasks.workbench.standalone_table import StandaloneTable

Spec = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        help=(
            "YAML of the table: dimensions, measure, tables, protection, form as in a definition; rules, "
            "table_attackers, waivers as in a policy"
        ),
    ),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="NAME[=FILE]",
        help=(
            "a dimension, and its CSV of code,parent or .hrc file; without a file its codes add up to Total; a "
            "name again is a further grouping"
        ),
    ),
]
Totals = Annotated[
    list[str] | None,
    typer.Option(
        "--total",
        metavar="[NAME=]CODE",
        help="name of the total of dimensions without a file, or with an .hrc file",
    ),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE=NUMBERS",
        help="such as p_percent=10 or dominance=2,85; of one of several measures MEASURE:RULE=NUMBERS",
    ),
]
Tables = Annotated[
    list[str] | None, typer.Option("--table", metavar="NAME,NAME", help="dimensions of one of several linked tables")
]
Value = Annotated[str | None, typer.Option("--value", help="column that is added up; else records are counted")]
Values = Annotated[
    list[str] | None,
    typer.Option("--value", help="column that is added up, or several for one pattern; else records are counted"),
]
Contributor = Annotated[str | None, typer.Option("--contributor", help="column that says whose a record is")]
Requested = Annotated[
    str | None,
    typer.Option(
        "--requested",
        metavar="COLUMN=VALUE[,BEFORE]",
        help="for request_rule: which text in which column asks for protection, and which of cells unsafe before",
    ),
]
Frequency = Annotated[
    str | None,
    typer.Option(
        "--frequency",
        help="the file has cells that are added up, totals too: column of their contributors' number",
    ),
]
Largest = Annotated[
    str | None,
    typer.Option("--largest", metavar="TOP1,TOP2", help="of such cells: columns of their largest contributions"),
]
CellStatus = Annotated[
    str | None, typer.Option("--status", help="of such cells: the column of S safe, U unsafe, P protected")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="any other field of --spec, such as protection.mode=optimise",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="processes to work with, for large tables; else SLUICE_WORKERS")
]


@dataclass(frozen=True)
class TableOptions:
    """What was typed of a table."""

    spec: Spec = None
    hierarchy: Hierarchies = None
    total: Totals = None
    rule: Rules = None
    value: Value = None
    contributor: Contributor = None
    table: Tables = None
    setting: Settings = None

    def read(self) -> tuple["StandaloneTable", list[Path]]:
        """The table, and the files that were read of it. Raises DocumentError, DataError."""
        from tasks.workbench.standalone_table import StandaloneTable, with_files, written_table

        files: list[Path] = []
        written = {} if self.spec is None else written_table(self.spec, files)
        if self.hierarchy:
            written["dimensions"] = _dimensions(self.hierarchy)
        if self.rule:
            written["rules"], written["rules_of"] = _rules(self.rule)
        if self.table:
            names = enumerate(names_given(self.table), start=1)
            written["tables"] = [{"name": f"table-{at}", "dimensions": table} for at, table in names]
        values = [self.value] if isinstance(self.value, str) else self.value or ()
        if len(values) == 1:
            _put(written, ["measure", "variable"], values[0])
        elif values:
            written["measures"] = list(values)
        if self.contributor is not None:
            _put(written, ["measure", "contributor"], self.contributor)
        self._write(written)
        for each in self.setting or ():
            field, equals, value = each.partition("=")
            if not equals or not all(field.split(".")):
                raise DocumentError(f"must be FIELD=VALUE, such as measure.holding=group; got '{each}'", field="--set")
            _put(written, field.split("."), _value(value, each))
        if isinstance(protection := written.get("protection"), dict) and "method" not in protection:
            _put(written, ["protection", "method"], "suppression")
        if "dimensions" not in written:
            raise DocumentError(
                "a table has at least one dimension; give NAME=FILE, or NAME, for each", field="--hierarchy"
            )
        if self.total:
            written["dimensions"] = _with_totals(written["dimensions"], self.total)
        written.update(with_files(written, Path(), files))
        return StandaloneTable.of(written, "the table" if self.spec is None else str(self.spec)), files

    def _write(self, written: dict[str, Any]) -> None:
        """What else was typed, put where the file has it."""


@dataclass(frozen=True)
class RecordsOptions(TableOptions):
    """And of the records, or of cells in their place."""

    requested: Requested = None
    frequency: Frequency = None
    largest: Largest = None
    status: CellStatus = None

    def _write(self, written: dict[str, Any]) -> None:
        if self.frequency is not None:
            _put(written, ["cells", "frequency"], self.frequency)
        if self.largest is not None:
            _put(written, ["cells", "largest"], list(*names_given([self.largest])))
        if self.status is not None:
            _put(written, ["cells", "status"], self.status)
        if self.requested is not None:
            _put(written, ["measure", "requested"], _requested(self.requested))


@dataclass(frozen=True)
class ProtectionOptions(RecordsOptions):
    """And of how the table is protected."""

    value: Values = None  # type: ignore[assignment]  # several, for one pattern
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME=NUMBERS",
            help="suppression (default), or controlled_rounding=BASE, small_count_rounding=BASE, "
            "controlled_adjustment=CAP,SPREAD, cell_key=MAXIMUM,VARIANCE,THRESHOLD, noise_multipliers=LEAST,SPREAD",
        ),
    ] = None

    def _write(self, written: dict[str, Any]) -> None:
        super()._write(written)
        if self.method is not None:
            written["protection"] = _method(self.method)


def told_of_a_table(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of its parameter `options`, one of the classes above."""
    signature = inspect.signature(command)
    kind = signature.parameters["options"].annotation
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]
    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for own in signature.parameters.values()
        for each in (
            [inspect.Parameter(name, own.kind, default=None, annotation=hints[name]) for name in names]
            if own.name == "options"
            else [own]
        )
    ]

    @wraps(command)
    def expanded(**given: Any) -> None:
        command(options=kind(**{name: given.pop(name) for name in names}), **given)

    expanded.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
    expanded.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": None}
    return expanded


def _requested(written: str) -> dict[str, str]:
    variable, equals, value = written.partition("=")
    if not variable or not equals or not value:
        raise DocumentError(f"must be COLUMN=VALUE, such as asked=yes; got '{written}'", field="--requested")
    value, _, before = value.partition(",")
    return {"variable": variable, "value": value} | ({"before": before} if before else {})


def names_given(written: Sequence[str]) -> list[tuple[str, ...]]:
    """What was written as NAME,NAME."""
    return [tuple(name.strip() for name in each.split(",")) for each in written]


def _dimensions(written: Sequence[str]) -> list[dict[str, Any]]:
    """What was written as NAME=FILE, or NAME; a name given again is a further grouping of its leaves."""
    files: dict[str, list[str]] = {}
    for each in written:
        name, equals, path = each.partition("=")
        if not name or bool(equals) != bool(path) or (not path and name.endswith((".csv", ".hrc"))):
            raise DocumentError(f"must be NAME=FILE, or the NAME of a column alone; got '{each}'", field="--hierarchy")
        files.setdefault(name, []).extend([path] if path else [])
    return [
        {"variable": name, "hierarchy": paths[0] if paths else None, "groupings": paths[1:]}
        for name, paths in files.items()
    ]


def _with_totals(dimensions: Sequence[Mapping[str, Any]], written: Sequence[str]) -> list[dict[str, Any]]:
    """The dimensions with what was written of their totals as CODE, or as NAME=CODE of one."""
    made = [dict(each) for each in dimensions]
    for each in written:
        name, equals, code = each.partition("=")
        named = [dimension for dimension in made if not equals or dimension.get("variable") == name]
        if not (code if equals else name) or not named:
            raise DocumentError(f"must be CODE, or NAME=CODE with a dimension's name; got '{each}'", field="--total")
        for dimension in named:
            file = dimension.get("hierarchy")
            if file is None or Path(file).suffix.lower() == ".hrc":  # which names the codes below the total alone
                dimension["total"] = code if equals else name
            elif equals:
                raise DocumentError(f"the hierarchy of '{name}' tells its total", field="--total")
    return made


def _rules(written: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """The rules, and by its name those of a measure, which were written as MEASURE:RULE=NUMBERS."""
    rules: list[dict[str, Any]] = []
    of_measures: dict[str, list[dict[str, Any]]] = {}
    for each in written:
        measure, colon, rule = each.rpartition(":")
        (of_measures.setdefault(measure, []) if colon else rules).append(_rule(rule))
    return rules, of_measures


def _rule(written: str) -> dict[str, Any]:
    """What was written as RULE=NUMBERS: the thresholds of the rule in a policy."""
    from policies.rules.rules import TablePolicyRule, rules

    return _numbered("--rule", "rule", written, rules(TablePolicyRule))


def _method(written: str) -> dict[str, Any]:
    """What was written as METHOD=NUMBERS: the parameters of the method in a release."""
    from tasks.release.tables.protection_method import Protection

    models = get_args(get_args(Protection)[0])
    known = {get_args(model.model_fields["method"].annotation)[0]: model for model in models}
    return _numbered("--method", "method", written, known)


def _numbered(option: str, key: str, written: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """A model's fields in their order, as far as they were written; one may be empty before others."""
    name, _, numbers = written.partition("=")
    if name not in known:
        raise DocumentError(f"one of {', '.join(known)}; got '{name}'.", field=option, came=name, allowed=known)
    fields = [field for field in known[name].model_fields if field not in (key, "waivable")]
    given = [number.strip() for number in numbers.split(",")] if numbers else []
    if len(given) > len(fields):
        takes = ", then ".join(fields) or "no numbers"
        raise DocumentError(f"{option} {name}: takes {takes}; got {len(given)} numbers")
    return {key: name} | {field: number for field, number in zip(fields, given, strict=False) if number}


def _value(text: str, option: str) -> Any:
    """A value as YAML has it; what is no YAML is a text."""
    from sluice.documents.document_reading import yaml_mapping

    return yaml_mapping(f"value: {text}", f"--set {option}")["value"]


def _put(written: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set a field of a mapping in mappings, without changing what these were made of."""
    place = written
    for at, part in enumerate(path[:-1], start=1):
        inner = place.get(part) or {}
        if not isinstance(inner, dict):
            raise DocumentError(f"{'.'.join(path[:at])} has no field by a name; write it in --spec", field="--set")
        place[part] = place = dict(inner)
    place[path[-1]] = value
