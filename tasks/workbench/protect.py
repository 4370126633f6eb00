"""Tables protected outside any release, and judged, by the same code as in a release: `sluice.protect` on DataFrames,
and `sluice table protect` on files.

What methods on tables that draw are given outside a release. The same seed and data give the same output again.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from policies.waivers import waived_cells
from sluice.custody.shelf import refuse_to_overwrite
from sluice.ground.durable import replace as write
from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.pattern_file import Pattern
from sluice.sources.perturbation_file import p_table_text
from sluice.tabular.editions.joint_editions import carried
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.column_values import is_missing
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.intruders import status_tells_more
from sluice.tabular.suppression.effort import Progress
from sluice.tabular.suppression.manual_status import manual_rows
from tasks.release.tables.altered_tables import KeyedRecords, OwnKeys, alter_cells
from tasks.release.tables.protection import Mode, ProtectionRequest
from tasks.release.tables.protection_method import Alteration, CellKey, SecondarySuppression
from tasks.release.tables.published_cells import MethodStatement, PublishedCells
from tasks.release.tables.suppressed_tables import suppress_cells
from tasks.release.tables.table_editions import EditionPair
from tasks.release.tables.table_findings import judge_audit, judge_statement
from tasks.workbench.arguments import Seed, column_name, data_frame, entropy, whole_number
from tasks.workbench.cells_files import (
    Tables,
    pattern_of,
    read_cells,
    refuse_taken_names,
    refuse_unfit_output,
    write_cells,
)
from tasks.workbench.measures_together import audited, protect_measures
from tasks.workbench.previous_pattern import PreviousPattern
from tasks.workbench.protected_table import ProtectedTable
from tasks.workbench.seed_file import secret_seed_of
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.table_arguments import Dimensions, Rule, Total, Waivers, table_of_records
from tasks.workbench.tabulation import Records, Tabulated, dimensions_of, records_in, tabulate


@dataclass(frozen=True, eq=False)
class Draw:
    """Neither is made or read before a method asks for it.

    seed  : a whole number that nobody can guess; the same seed and data give the same table
    frame : the records that the table adds up, with its dimensions and contributors as text
    """

    seed: Callable[[], int]
    frame: Callable[[], pd.DataFrame]
    dimensions: Sequence[Dimension]
    measure: Measure

    def secret(self, purpose: str) -> str:
        """64 hexadecimal digits, others for each purpose."""
        return hashlib.sha256(f"{self.seed()}\n{purpose}".encode()).hexdigest()

    def generator(self, cells: Cells, method: Alteration) -> np.random.Generator:
        """Other draws for each table and method: the same for two tables that hardly differ would show how they do."""
        mixed = f"{self.seed()}\n{method.model_dump_json()}\n".encode() + cells.total.tobytes()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(mixed).digest()))

    def keyed_records(self) -> KeyedRecords:
        """A record's key comes from its contributor and the seed alone: it is the same in every table and edition.

        raises : DataError without contributors
        """
        if self.measure.contributor is None:
            raise MeasureChoiceError(
                "a record has the same noise in every table, so cell_key and noise_multipliers need to know it again: "
                "name the column of its contributor, or of a number of its own",
                "contributor",
            )
        secret = self.secret("cell_key").encode()
        frame = self.frame()
        if self.measure.value is not None:
            frame = frame[~is_missing(frame[self.measure.value])]
        return KeyedRecords.of(frame, self.dimensions, self.measure, [self.measure.contributor], secret)


_NOTHING_SHARED = Sentence(
    "earlier_editions.nothing_shared",
    "No cell of {name} has the same value here, so nothing was compared. If its values were changed (rounded, with "
    "noise), their joint disclosure is unknown and needs a decision of somebody who knows both.",
)


def protect(
    records: pd.DataFrame,
    dimensions: Dimensions,
    *,
    total: Total = None,
    value: str | None = None,
    rules: Sequence[Rule] | Rule | Mapping[str, Sequence[Rule] | Rule],
    contributor: str | None = None,
    measure: Mapping[str, Any] | None = None,
    measures: Sequence[str] = (),
    cells: Mapping[str, Any] | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    method: Mapping[str, Any] | str = "suppression",
    cost: str | None = None,
    mode: Mode | None = None,
    seconds: float | None = None,
    a_priori: pd.DataFrame | Sequence[Mapping[str, Any]] | None = None,
    waivers: Waivers = None,
    previous: pd.DataFrame | None = None,
    seed: Seed = None,
    coalition: int = 1,
    workers: int = 1,
) -> ProtectedTable:
    """Add records up to a table and protect it as a release would: by suppressing cells, or by changing values.

    records     : one row a record; codes are text or whole numbers
    dimensions  : columns whose categories add up to 'Total'; or {column: hierarchy}, a hierarchy being a mapping or
                  DataFrame of each code and its parent ('' for the total), the path of a CSV file, or None; or a list
                  of several, which group the same leaves
    total       : what the total is called of dimensions without a hierarchy, or {column: code}; 'Total' when not given
    value       : column that is added up; records are counted when not given
    rules       : which cells are sensitive, as in a policy: [{"rule": "p_percent", "p": 10}]; docs/rules.md lists them.
                  Of several `measures` also {measure: rules}
    contributor : column of whose record it is; each record is one of its own when not given
    measure     : how values count, as `measure` in a release: {"weight": {"variable": "w", "rule": "argus"}, "missing":
                  "leave_out"}
    measures    : in place of `value`: columns that are added up in tables of one pattern, safe for each
    cells       : where `records` has a row for each cell, totals too, added up already: the columns that tell of it,
                  {"frequency": "n", "largest": ["top1", "top2"], "status": "s"}; see docs/tables.md
    tables      : the dimensions of each of several linked tables; one table of all when not given
    method      : as `protection` in a release: {"method": "controlled_rounding", "base": 5}; docs/tables.md lists them
    cost        : what suppression keeps small: value (when not given), cells, contributors or scaled_information
    mode        : fast (when not given); or optimise, slower, with a proven bound on the cost
    seconds     : a budget for suppression: a safe pattern in any case, as cheap as the search gets meanwhile
    a_priori    : what people ask of single cells: codes, status and, if wanted, lower, upper and cost
    waivers     : as in a policy, a list or a YAML file: which sensitive cells `a_priori` may have published
    previous    : the pattern that was published before: what it suppressed is suppressed again, and neither must undo
                  the other
    seed        : of methods that draw, and of noise on the costs of suppression; without one, those draw anew and these
                  have none. For what leaves the house it must be one that nobody guesses
    coalition   : contributors who pool what they know, 0 to 3
    raises      : TypeError, DataError, DocumentError
    time        : for 10,000 cells about 5 seconds
    """
    table = table_of_records(
        records, dimensions, rules, value, contributor, measure, tables, coalition,
        total=total, measures=measures, cells=cells, method=method, waivers=waivers, a_priori=a_priori, cost=cost,
        mode=mode, seconds=seconds,
    )  # fmt: skip
    drawn = entropy(seed)
    return protect_table(
        records,
        table,
        previous=previous,
        seed=lambda: drawn,
        secret_costs=seed is not None,
        workers=whole_number(workers, "workers", 1),
    )


def protect_file(
    source: Path,
    table: StandaloneTable,
    output: Path,
    *,
    previous: Path | None = None,
    seed_file: Path | None = None,
    p_table: Path | None = None,
    inputs: Sequence[Path] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> ProtectedTable:
    """Make, protect and judge the table of a CSV or Parquet file, and write it as CSV if nothing fails.

    output    : a CSV file of all cells, or a folder, for a file of each linked table
    previous  : cells that were published before, in a form of `output`
    seed_file : of methods that draw, and of noise on the costs of suppression; made where it is absent
    p_table   : where the perturbation table of cell_key is written, as R's ptable exports it: readers may know it
    inputs    : further files that were read, and are not to be written over
    raises    : DataError, DocumentError; then nothing is written
    """
    begun = perf_counter()
    read = [*inputs, source, seed_file, previous]
    refuse_unfit_output(output, read, table.all_tables)
    if p_table is not None:
        if not isinstance(table.protection, CellKey):
            raise DataError(f"--p-table: cell_key has a perturbation table; got the method {table.protection.method}.")
        if p_table.suffix != ".txt":
            raise DataError(f"--p-table {p_table}: must end in .txt, as ptable's files do")
        refuse_to_overwrite(p_table, read, option="--p-table")

    def seed() -> int:
        if seed_file is None:
            raise DataError(
                f"{table.protection.method} draws; give --seed-file, which is made where it is absent, and keep it "
                "secret."
            )
        return secret_seed_of(seed_file)

    made = protect_table(
        source,
        table,
        previous=previous,
        seed=seed,
        secret_costs=seed_file is not None,
        workers=workers,
        progress=progress,
    )
    may, told = made.may_be_published, table.form.tell_primary
    files = write_cells(output, partial(made.csv_of, told), table.all_tables) if may else []
    if may and p_table is not None and isinstance(table.protection, CellKey):
        write(p_table, p_table_text(table.protection.table).encode(), 0o644)
        files.append(p_table)
    return replace(made, files=tuple(files), seconds=perf_counter() - begun)


def protect_table(
    records: Records,
    table: StandaloneTable,
    *,
    previous: Records | None = None,
    seed: Callable[[], int],
    secret_costs: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> ProtectedTable:
    """Protect and judge the table of records.

    previous     : cells that readers have already; the two are judged together
    seed         : a whole number that nobody can guess, asked for when something is drawn
    secret_costs : the costs of suppression get noise, as in a release; without it, who runs the method again learns
                   from the pattern which tables would not give it
    progress     : of the search for a pattern
    raises       : DataError
    """
    begun = perf_counter()
    _, method = table.sensitivity, table.protection  # there must be rules
    _refuse_to_tell_primary(table)
    dimensions = dimensions_of(table, records, totals=table.cells is not None)
    refuse_taken_names(dimensions)
    before = None
    if previous is not None:
        name = previous.name if isinstance(previous, Path) else "the previous pattern"
        before = PreviousPattern(name, *_published_before(previous, dimensions, table))
    if before is not None and (table.measures or not isinstance(method, SecondarySuppression)):
        raise DataError(
            "the previous pattern is for the method suppression of one measure; got "
            f"{' and '.join(table.measures) or method.method}."
        )
    draw = Draw(seed, lambda: records_in(records, dimensions, table.summed), dimensions, table.measure.measure)
    secret = draw.secret("suppression") if secret_costs and isinstance(method, SecondarySuppression) else None
    if table.measures:
        made: ProtectedTable = protect_measures(
            table.by_measure,
            lambda each: tabulate(records, dimensions, each),
            partial(_request, secret=secret),
            workers,
            progress,
        )
        return replace(made, seconds=perf_counter() - begun)
    tabulated = tabulate(records, dimensions, table)
    request = _request(table, tabulated, secret)
    if isinstance(method, SecondarySuppression):
        made = _suppressed(tabulated, request, method, before, workers, progress)
    else:
        made = _altered(tabulated, request, method, draw, _own_keys(records, dimensions, table, tabulated))
    return replace(made, seconds=perf_counter() - begun)


def _request(table: StandaloneTable, tabulated: Tabulated, secret: str | None) -> ProtectionRequest:
    """What rules and people ask; with noise on the costs where there is a secret."""
    cells, method = tabulated.cells, table.protection
    pattern = method if isinstance(method, SecondarySuppression) else SecondarySuppression()
    request = ProtectionRequest.of(
        cells,
        table.sensitivity,
        replace(table.assumptions, statuses=table.form.tell_primary),
        rows=manual_rows([*tabulated.stated, *pattern.a_priori], [d.name for d in cells.dimensions], cells.decimals),
        cost=pattern.cost,
        manual_percent=pattern.manual_percent,
        waive=partial(waived_cells, waivers=table.waivers, release_name="", today=datetime.now(UTC).date()),
    )
    return request if secret is None else request.with_secret_costs(cells, secret)


def _published_before(
    previous: Records, dimensions: Sequence[Dimension], table: StandaloneTable
) -> tuple[Pattern, Tables | None]:
    """The pattern, and the tables of which it has the cells; the files of a folder tell them."""
    if isinstance(previous, Path):
        return read_cells(previous, dimensions, None if previous.is_dir() else table.linked)
    return pattern_of(data_frame(previous, "previous"), dimensions, "previous"), table.linked


def _suppressed(
    tabulated: Tabulated,
    request: ProtectionRequest,
    method: SecondarySuppression,
    previous: PreviousPattern | None,
    workers: int,
    progress: Progress | None,
) -> ProtectedTable:
    cells = tabulated.cells
    kept, pair = np.zeros(len(cells), dtype=bool), None
    if previous is not None:
        edition = previous.edition(cells, request.assumptions.nonnegative)
        before, now = edition.among(cells)
        kept = np.logical_or(*carried(before, edition.published.status, now))
        pair = EditionPair.of(cells, edition)
    made = suppress_cells(
        cells, request, method, kept=kept, beside=[pair] if pair else [], workers=workers, progress=progress
    )
    status = made.published.status
    found = audited(cells, request, made, workers)
    findings = [judge_audit(found), *request.findings]
    if pair is not None:
        findings.append(pair.finding(status, request, workers))
    elif previous is not None:
        says = _NOTHING_SHARED(name=previous.name)
        findings.append(Finding(rule="earlier_editions", verdict=Verdict.PASS, stage="masked", **as_fields(says)))
    return ProtectedTable(
        tabulated=tabulated, method=method, request=request, protected=made.published, findings=tuple(findings),
        audit=found, suppressed=made,
    )  # fmt: skip


def _own_keys(
    source: Records, dimensions: Sequence[Dimension], table: StandaloneTable, tabulated: Tabulated
) -> Callable[[], OwnKeys] | None:
    """The keys that came with records or cells; None where they are to be made of a secret."""
    if tabulated.keys is not None:
        return partial(OwnKeys.of, tabulated.keys)
    method = table.protection
    if not isinstance(method, CellKey) or method.record_key is None:
        return None
    column, measure = method.record_key, table.measure.measure

    def of_records() -> OwnKeys:
        if isinstance(source, pd.DataFrame):
            column_name(column, "record_key", source)
        frame = records_in(source, dimensions, measure, [column])
        return OwnKeys.of(frame[column], records_of(frame, dimensions, measure).leaves)

    return of_records


def _altered(
    tabulated: Tabulated,
    request: ProtectionRequest,
    method: Alteration,
    draw: Draw,
    own_keys: Callable[[], OwnKeys] | None,
) -> ProtectedTable:
    cells = tabulated.cells
    altered = alter_cells(
        cells,
        request,
        method,
        is_count=request.assumptions.counts is not None,
        rng=lambda: draw.generator(cells, method),
        records=draw.keyed_records,
        own_keys=own_keys,
    )
    return ProtectedTable(
        tabulated=tabulated,
        method=method,
        request=request,
        protected=PublishedCells.of_altered(cells, altered.value),
        findings=(judge_statement(MethodStatement.of(altered)), *request.findings),
    )


def _refuse_to_tell_primary(table: StandaloneTable) -> None:
    """Raise DataError where two words for suppressed cells would tell more than one."""
    if not table.form.tell_primary:
        return
    if table.summed.counts is not None:
        raise DataError(
            "a reader who is told which suppressed counts are sensitive knows how small they are, and their sums "
            "disclose many; leave form.tell_primary out."
        )
    if status_tells_more(table.sensitivity, table.table_attackers.coalition):
        raise DataError(
            "by these rules, or to contributors who pool what they know, the word 'primary' tells how large the "
            "others' parts may be; leave form.tell_primary out."
        )
