"""The contract: what one data set must look like, written by the people who own it.

From it come the typing of the staged data, the pandera schemas of the staged and of the released table, and the
Great Expectations suite that runs at the source.
"""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sluice.errors import DocumentError, did_you_mean
from sluice.release.documents import parse_document, read_yaml
from sluice.variables import Kind, Label, Role, Variable


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CrossFieldRule(_Strict):
    """A condition that every record meets, over one or more of its values."""

    name: str
    expression: str = Field(
        description="for instance: years_married <= age - 12; names, numbers, 'text', comparisons, and/or/not"
    )
    says: str = Field(description="the rule in words")


class RowCount(_Strict):
    minimum: int = Field(default=1, ge=1)
    maximum: int | None = Field(default=None, ge=1)


class Freshness(_Strict):
    """The newest record is not older than so many days when the release runs."""

    column: str
    max_age_days: float = Field(gt=0)


class Drift(_Strict):
    """How far a distribution may move from the last published release."""

    max_distance: float = Field(
        default=0.1, gt=0, le=1, description="largest total variation distance of a column's distribution, 0 to 1"
    )
    columns: tuple[str, ...] | None = Field(default=None, description="all variables that are not keys, when not given")


class Contract(_Strict):
    """One data set: its variables, its record key and what must hold of it as a whole."""

    dataset: str = Field(min_length=1)
    version: Label = Field(min_length=1)
    description: str = ""
    record_key: tuple[str, ...] = Field(
        default=(),
        description="variables that together name one record; unique. An identifier here is kept as a keyed hash",
    )
    variables: tuple[Variable, ...] = Field(min_length=1)
    rules: tuple[CrossFieldRule, ...] = ()
    rows: RowCount = RowCount()
    freshness: Freshness | None = None
    drift: Drift | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        names = [variable.name for variable in self.variables]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"variable named twice: {', '.join(twice)}")
        wanted = [("record_key", name) for name in self.record_key]
        if self.freshness:
            wanted.append(("freshness.column", self.freshness.column))
            if self.freshness.column in names and self.by_name[self.freshness.column].kind is not Kind.DATE:
                raise ValueError(f"freshness.column: '{self.freshness.column}' must be a date")
        if self.drift:
            wanted += [("drift.columns", name) for name in self.drift.columns or ()]
        for field, name in wanted:
            if name not in names:
                raise ValueError(f"{field}: the contract has no variable '{name}'.{did_you_mean(name, names)}")
        for role in (Role.WEIGHT, Role.HOUSEHOLD, Role.CONTRIBUTOR):
            if sum(variable.role is role for variable in self.variables) > 1:
                raise ValueError(f"more than one variable has the role '{role}'; at most 1 is allowed")
        return self

    @property
    def by_name(self) -> dict[str, Variable]:
        """The variables by name, in order."""
        return {variable.name: variable for variable in self.variables}


def load_contract(path: Path) -> Contract:
    """The contract in a YAML file; a hierarchy given as `file:` is read from its CSV. Raises DocumentError."""
    content = read_yaml(path)
    for index, variable in enumerate(content.get("variables") or []):
        if (
            isinstance(variable, dict)
            and isinstance(variable.get("hierarchy"), dict)
            and "file" in variable["hierarchy"]
        ):
            where = f"{path}: variables.{index}.hierarchy"
            variable["hierarchy"] = _read_hierarchy(path.parent, variable["hierarchy"], where)
    return parse_document(Contract, content, str(path))


def _read_hierarchy(base: Path, given: dict[str, Any], where: str) -> dict[str, Any]:
    """`{file: FILE}` as `{rows: ...}`: CSV in the ARX form, one leaf a row, ';' or ',' between levels, no header."""
    if set(given) != {"file"}:
        raise DocumentError(f"{where}: give either 'file' or 'rows'; got {', '.join(sorted(given))}")
    file = base / Path(str(given["file"])).expanduser()
    try:
        lines = [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        raise DocumentError(f"{where}.file: {file} cannot be read as UTF-8 text") from None
    mark = ";" if lines and ";" in lines[0] else ","
    rows: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, start=1):
        leaf, *levels = (part.strip() for part in line.split(mark))
        if leaf in rows:
            raise DocumentError(f"{where}.file: {file} line {number}: a leaf stands twice")
        rows[leaf] = tuple(levels)
    return {"rows": rows}
