"""A batch of tau-ARGUS, run here: its tables are protected, audited and judged as every table is. Where one may not be
published, no file of the batch is written.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from sluice.custody.shelf import refuse_to_overwrite
from sluice.ground.durable import replace as write
from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.publication.argus_table_files import INTERMEDIATE, JJ, PIVOT, SBS, ArgusTable
from sluice.software_version import software_version
from sluice.sources.argus_batch import Batch, BatchTable, FileToWrite, Remark, read_batch
from sluice.tabular.suppression.effort import Progress
from tasks.workbench.argus_jobs import Job, file_at, jobs_of
from tasks.workbench.protect import protect_table
from tasks.workbench.protected_table import ProtectedTable
from tasks.workbench.seed_file import secret_seed_of
from tasks.workbench.tabular_file import errors_of

_CHANGED = {"controlled_rounding": "Round", "cell_key": "CKM"}  # else CTA


@dataclass(frozen=True, eq=False)
class ProtectedTables:
    """Tables that were protected together, and the lines of the batch that specify them."""

    tables: tuple[BatchTable, ...]
    made: ProtectedTable


@dataclass(frozen=True, eq=False)
class BatchRun:
    """What came of a batch.

    remarks : what was done otherwise than the batch says, by line
    files   : that were written; none where a table may not be published
    """

    protected: tuple[ProtectedTables, ...]
    remarks: tuple[Remark, ...]
    files: tuple[Path, ...]
    seconds: float

    @property
    def may_be_published(self) -> bool:
        return all(each.made.may_be_published for each in self.protected)

    def summary(self) -> dict[str, Any]:
        """What was done, for machines; no single cell's value."""
        return {
            "tables": [
                {"lines": [table.line for table in each.tables], **each.made.summary()} for each in self.protected
            ],
            "remarks": [{"line": each.line, "says": each.says} for each in self.remarks],
            "files": [str(file) for file in self.files],
            "seconds": round(self.seconds, 3),
        }


def run_batch(
    path: Path,
    *,
    seed_file: Path | None = None,
    confidential: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> BatchRun:
    """Protect the tables of a batch and write its files, if nothing fails.

    seed_file    : of methods that draw, and of noise on the costs of suppression; made where it is absent
    confidential : files hold the values of suppressed cells where the batch asks for them
    raises       : DataError, DocumentError; then nothing is written
    """
    begun = perf_counter()
    batch = read_batch(path)
    jobs = [job for session in batch.sessions for job in jobs_of(session, path.parent)]
    if not jobs:
        raise DataError(f"{path}: no table of it has a <SUPPRESS>, so there is nothing to do.")
    _refuse_unfit_places(batch, jobs, path, seed_file, confidential)

    def seed() -> int:
        if seed_file is None:
            raise DataError(
                "this method draws; give --seed-file, which is made where it is absent, and keep it secret."
            )
        return secret_seed_of(seed_file)

    made = []
    for job in jobs:
        with errors_of(job.data), _of_line(job.tables[0].line):
            found = protect_table(
                job.frame, job.specified, seed=seed, secret_costs=seed_file is not None, workers=workers,
                progress=progress,
            )  # fmt: skip
        made.append(ProtectedTables(job.tables, found))
    remarks = [
        *batch.remarks,
        *(remark for job, each in zip(jobs, made, strict=True) for remark in job.after(each.made)),
    ]
    remarks += [] if confidential else _left_out(jobs)
    run = BatchRun(tuple(made), tuple(sorted(remarks, key=lambda each: each.line)), (), 0.0)
    contents: dict[Path, bytes] = {}
    if run.may_be_published:
        for job, each in zip(jobs, made, strict=True):
            for table, file in _files_of(job.tables):
                contents |= _of_table(job, table, each.made, confidential).files(
                    job.place(file.path), file.kind, file.options
                )
    for place in contents:  # an intermediate file comes with others
        refuse_to_overwrite(place, _inputs(jobs, path, seed_file), option="the batch's")
    for place, content in contents.items():
        write(place, content, 0o600 if confidential else 0o644)
    run = replace(run, files=tuple(contents), seconds=perf_counter() - begun)
    for name, text in ((batch.version_info, f"Sluice {software_version()}\n"), (batch.logbook, _log(run))):
        if name:
            write(file_at(path.parent, name), text.encode(), 0o644)
    return run


@contextmanager
def _of_line(line: int) -> Iterator[None]:
    """Lets a DataError name the line of the table."""
    try:
        yield
    except DataError as error:
        says = error.for_command if isinstance(error, MeasureChoiceError) else str(error)
        raise DataError(f"the table of line {line}: {says}") from None


def _files_of(tables: Sequence[BatchTable]) -> Iterator[tuple[BatchTable, FileToWrite]]:
    for table in tables:
        yield from ((table, file) for file in table.files)


def _of_table(job: Job, table: BatchTable, made: ProtectedTable, confidential: bool) -> ArgusTable:
    names = {name.casefold(): name for name in (each.variable for each in job.specified.dimensions)}
    changed = made.protected.value is not None
    return ArgusTable(
        cells=made.tabulated.cells,
        dimensions=tuple(names[name.casefold()] for name in table.dimensions),
        response=table.response or job.counts,
        status=made.status,
        requirements=made.requirements,
        cost=made.request.manual.cost,
        value=made.protected.value,
        changed=_CHANGED.get(made.method.method, "CTA") if changed else "",
        confidential=confidential,
        labels=job.labels,
        two_dominate=any(rule.get("n") == 2 for rule in table.rules if rule["rule"] == "dominance"),
    )


def _left_out(jobs: Sequence[Job]) -> list[Remark]:
    """What files do not hold unless confidential ones are asked for."""
    return [
        Remark(
            file.line,
            "values of suppressed cells, and why each is suppressed, are not written; --confidential writes them",
        )
        for job in jobs
        for _, file in _files_of(job.tables)
        if file.kind == SBS or (file.kind >= PIVOT and "AS" in file.options)
    ]


def _inputs(jobs: Sequence[Job], path: Path, seed_file: Path | None) -> list[Path | None]:
    return [path, seed_file, *(file for job in jobs for file in job.inputs)]


def _refuse_unfit_places(
    batch: Batch, jobs: Sequence[Job], path: Path, seed_file: Path | None, confidential: bool
) -> None:
    inputs = _inputs(jobs, path, seed_file)
    places = list[Path]()
    files = [(job, file) for job in jobs for _, file in _files_of(job.tables)]
    for job, file in files:
        place = job.place(file.path)
        places.append(place)
        if file.kind in (INTERMEDIATE, JJ) and not confidential:
            raise DataError(
                f"{path}: line {file.line}: this format holds the values of suppressed cells. Where the file stays "
                "inside the house, add --confidential; formats 1 to 3 are for publication."
            )
        if place.suffix in (".arb", ".rda", ".hrc"):
            raise DataError(f"{path}: line {file.line}: {place.name} has the ending of a file of another kind")
    places += [file_at(path.parent, name) for name in (batch.logbook, batch.version_info) if name]
    for place in places:
        if places.count(place) > 1:
            raise DataError(f"{path}: {place} would be written twice.")
        if not place.parent.is_dir():
            raise DataError(f"{path}: there is no folder {place.parent}")
        refuse_to_overwrite(place, inputs, option="the batch's")


def _log(run: BatchRun) -> str:
    """What was said, for the logbook."""
    lines = [f"Sluice {software_version()}", *map(str, run.remarks)]
    for each in run.protected:
        named = ", ".join(str(table.line) for table in each.tables)
        lines.append(f"table of line {named}: {each.made.verdict.name}. {each.made.says}")
    lines += [f"written: {file}" for file in run.files] or ["nothing is written"]
    return "\n".join(lines) + "\n"
