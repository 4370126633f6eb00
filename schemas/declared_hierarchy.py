"""The hierarchy of a variable as a contract writes it: its rows, the file that holds them, or how it is built.

Whatever was written, the contract holds the rows that come of it: these are reviewed, hashed and used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sluice.documents.document_reading import parse_document
from sluice.generalization.builders import BUILDERS
from sluice.ground.errors import DataError, DocumentError, did_you_mean
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.rule import FileOf
from sluice.ground.variables import Variable
from sluice.sources.hierarchy_file import read_hierarchy


class HierarchyFile(BaseModel):
    """A CSV file beside the contract: a leaf a row with its ever wider groups, or columns code and parent."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(min_length=1)
    separator: str | None = Field(
        default=None, min_length=1, max_length=1, description="else the sign that stands most often in its first line"
    )
    encoding: str = Field(default="utf-8", description="utf-8 (with or without byte order mark), latin-1, cp1252, ...")


_FORMS: dict[str, type[BaseModel]] = {"rows": Hierarchy, "file": HierarchyFile, **BUILDERS}


def declared_hierarchy(
    given: Mapping[str, Any], of: Mapping[str, Any], base: Path, where: str, file_of: FileOf
) -> Mapping[str, Any] | Hierarchy | None:
    """The hierarchy that is written as a file or a builder; rows are returned as they are.

    None for a builder over a variable that is wrong itself, which the contract says in its own words.

    given  : what stands in the contract
    of     : the variable as it stands there, whose kind, categories and bounds a builder needs
    base   : the contract's folder; `file_of` finds a file that it names, or refuses it
    raises : DocumentError, which begins with `where`
    """
    forms = [form for form in _FORMS if form in given]
    if len(forms) != 1:
        hint = did_you_mean(str(next(iter(given), "")), _FORMS) if not forms else ""
        raise DocumentError(
            f"give exactly one of {', '.join(_FORMS)}; got {', '.join(forms or map(str, given)) or 'none'}.{hint}",
            field=where,
        )
    (form,) = forms
    if form == "rows":
        return given
    if form == "file":
        named = parse_document(HierarchyFile, dict(given), where)
        file = file_of(base, named.file, f"{where}.file")
        try:
            return read_hierarchy(file, named.separator, named.encoding)
        except DataError as error:
            raise DocumentError(f"{where}.file: {error}") from None
    builder = parse_document(BUILDERS[form], dict(given), where)
    try:
        variable = Variable.model_validate({key: value for key, value in of.items() if key != "hierarchy"})
    except ValidationError:
        return None
    try:
        return builder.build(variable)
    except DocumentError as error:
        raise DocumentError(str(error), field=where) from None


def hierarchy_forms() -> list[dict[str, Any]]:
    """The JSON Schema of each form."""
    return [model.model_json_schema() for model in _FORMS.values()]
