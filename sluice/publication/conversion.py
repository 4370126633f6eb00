"""Conversion: a published folder's data for a statistics package, or as a CSV of labels, by whoever has the folder.

The columns' meanings are taken from `datapackage.json`, so that nothing of the house is needed. What comes out is the
user's own copy: nobody approved it, and it is compared with the published Parquet file value by value.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Literal

from sluice.custody.shelf import refuse_place
from sluice.ground.durable import sha256_of
from sluice.ground.errors import DataError
from sluice.ground.variables import Variables, as_label
from sluice.publication.copies import COPIES
from sluice.publication.records_file import read_typed, write_csv, write_parquet
from sluice.publication.spreadsheet_text import escaped_frame
from sluice.publication.table_schema import variables_of

Form = Literal["stata", "spss", "csv"]


@dataclass(frozen=True)
class ConvertedFile:
    """One file that was made. renamed : published name -> the name that the package takes."""

    path: Path
    renamed: Mapping[str, str]


def convert(folder: Path, files: Mapping[str, str], form: Form, output: Path) -> list[ConvertedFile]:
    """Convert each Parquet file of a published folder that was verified.

    files  : name -> SHA-256, as it was verified: the bytes that are converted are those
    output : folder, apart from the published one, see `refuse_within`
    raises : DataError where a file is there already, or the package cannot hold what is published
    cost   : memory for a file twice
    """
    refuse_within(folder, output)
    wanted = [(file, _target(output, file, form)) for file in sorted(files) if file.endswith(".parquet")]
    if not wanted:
        raise DataError(f"{folder} holds no Parquet file to convert")
    for _, target in wanted:
        refuse_place(target)
    if there := next((target for _, target in wanted if target.exists()), None):
        raise DataError(f"{there} is there already. Remove it, or choose another folder by --output")
    described = _descriptor(folder)
    output.mkdir(parents=True, exist_ok=True)
    return [_converted(folder / file, files[file], described, form, target) for file, target in wanted]


def refuse_within(folder: Path, output: Path) -> None:
    """Raise DataError where what is written would lie in the published folder, which would not verify any more."""
    if output.resolve().is_relative_to(folder.resolve()):
        raise DataError(
            f"{output} is the published folder, which would not verify any more. Choose another by --output"
        )


def _target(output: Path, file: str, form: Form) -> Path:
    stem = PurePosixPath(file).stem
    return output / (f"{stem}.labels.csv" if form == "csv" else f"{stem}{COPIES[form].ending}")


def _descriptor(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / "datapackage.json").read_bytes())
        return {resource["path"]: resource for resource in content["resources"]} | {"title": str(content["title"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{folder}: datapackage.json does not describe the files") from None


def _converted(parquet: Path, sha256: str, described: Mapping[str, Any], form: Form, target: Path) -> ConvertedFile:
    if parquet.name not in described:
        raise DataError(f"datapackage.json does not describe {parquet.name}")
    variables = variables_of(described[parquet.name]["schema"])
    with parquet.open("rb") as file:
        if sha256_of(file) != sha256:
            raise DataError(f"{parquet} changed after it was verified")
    if form == "csv":
        _write_labels(parquet, target, variables)
        return ConvertedFile(target, {})
    copy = COPIES[form]
    names = copy.names_for(list(variables))
    with TemporaryDirectory(dir=target.parent) as scratch:
        renamed = _renamed(variables, names)
        plain = Path(scratch) / "data.parquet"
        write_parquet(read_typed(parquet, variables).rename(columns=names), plain, renamed)
        copy.write(plain, target, renamed, described["title"])
    return ConvertedFile(target, {name: new for name, new in names.items() if name != new})


def _renamed(variables: Variables, names: Mapping[str, str]) -> Variables:
    """The same variables under other names; of one that had to be renamed the label begins with its own."""
    renamed = {}
    for name, variable in variables.items():
        says = f"{name}: {variable.description}" if variable.description else name
        label = variable.description if names[name] == name else says
        renamed[names[name]] = variable.model_copy(update={"name": names[name], "description": label})
    return renamed


def _write_labels(parquet: Path, target: Path, variables: Variables) -> None:
    """A CSV with labels in the place of codes, for a spreadsheet: nothing in it is taken for a formula."""
    frame = read_typed(parquet, variables)
    for name, variable in variables.items():
        if variable.labels:
            of = variable.labels
            frame[name] = frame[name].astype(object).map(lambda code, of=of: of.get(as_label(code), code), "ignore")
    write_csv(escaped_frame(frame), target)
