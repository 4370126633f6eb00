"""What the standard's validator says of a published folder."""

from pathlib import Path

from frictionless import Checklist, Package


def problems(folder: Path, nothing_known_of_some: bool = False) -> list[str]:
    """What the validator says of a folder.

    nothing_known_of_some : records with no value at all are allowed, such as empty sets in a file of sets alone
    """
    checklist = Checklist(skip_errors=["blank-row"] if nothing_known_of_some else [])
    report = Package(str(folder / "datapackage.json")).validate(checklist)
    assert len(report.tasks) >= 2, "it looked at the files"
    said = [*report.errors, *(error for task in report.tasks for error in task.errors)]
    return [f"{error.type}: {error.message}" for error in said] + report.warnings
