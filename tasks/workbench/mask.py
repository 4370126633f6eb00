"""`sluice.mask`: a masking plan carried out on a DataFrame."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from schemas.contract import HASHED, Contract
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DataError, did_you_mean
from sluice.ground.frame_columns import with_columns
from sluice.ground.remarks import Remark, Remarks
from sluice.ground.variables import Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import Block, moved_blocks
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.noise.markov_matrix import corrected_frequencies
from sluice.masking.noise.pram import MISSING, Pram
from sluice.masking.plan import ByStratum, apply_plan, apply_recodings, released_variables
from sluice.masking.swapping.anatomization import Anatomization, anatomized_tables
from sluice.utility.cell_changes import cell_changes
from tasks.workbench.arguments import Seed, column_name, data_frame, document, entropy
from tasks.workbench.file_masking import (
    MaskingPlan,
    emptied,
    load_plan,
    newly_broken,
    not_named,
    refuse_impossible,
    told_of_absent,
    told_of_emptied,
    told_of_impossible,
    with_files,
)
from tasks.workbench.records import Columns, ContractGiven, HoldsRecords, Records, refuse_missing, refuse_unlike_kinds
from tasks.workbench.result import COLOURS, Figure, Result, axes
from tasks.workbench.tabular_file import remarks_on, typed_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Plan = MaskingStep | Mapping[str, Any] | Sequence[MaskingStep | Mapping[str, Any]] | Path | str
_ALLOWED = (
    "a list of steps, each a mapping such as {'method': 'rounding', ...} or a step of sluice.masking, or the path of a "
    "YAML file"
)
_MOST_BARS = 30


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Masked(Result, HoldsRecords):
    """What a plan made of a DataFrame, and read like one: `masked["age"]`, `masked.head()`, `masked.to_csv(...)`.

    Nobody judged it: see `sluice.assess`. What a DataFrame has and this class has not is that of `frame`.

    frame       : masked, without identifiers; the index tells the record of the original that each comes from
    kept        : by record of the original, whether it is in `frame`; all are, unless the plan takes a sample
    changes     : by column of `frame`, the share of cells changed and suppressed beyond what the recodings do, and for
                  numbers the mean and the variance of what was added (masked less original)
    plan        : the steps
    blocks      : variables that left their records together, and where they went: as secret as the records themselves
    carried_out : the steps as they were carried out, with every threshold, bound and matrix that was fitted to the data
                  as a number in its place; `ByStratum` for a step with strata. Exact: it tells of the records
    parameters  : what a user of the masked file may know of each step to correct for it, as it would be published
    original    : the records before
    contract    : what the columns were taken for
    reading     : what of treated columns was not read as it stands, such as blanks at the ends of texts
    emptied     : variables of which no record has a value left
    impossible  : rules of the contract that records break which kept them
    """

    records_original: Annotated[int, Figure("records", "before")]
    records_masked: Annotated[int, Figure("records", "after")]
    steps: Annotated[int, Figure("steps", "carried out, in order")]
    columns_changed: Annotated[int, Figure("columns", "recoded, changed or suppressed in some record")]
    columns_removed: Annotated[int, Figure("columns", "taken out, identifiers included")]
    frame: pd.DataFrame
    kept: pd.Series
    changes: pd.DataFrame
    plan: tuple[MaskingStep, ...]
    carried_out: tuple[MaskingStep | ByStratum, ...]
    blocks: tuple[Block, ...]
    parameters: tuple[dict[str, Any], ...]
    original: Records
    released: Records
    contract: Contract
    reading: tuple[Remark, ...] = ()
    emptied: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()

    @property
    def records(self) -> Records:
        return self.released

    @property
    def says(self) -> str:
        done = " ".join(step.describe() for step in self.plan)
        read = "".join(f"{remark.says[:1].upper()}{remark.says[1:]}. " for remark in self.reading)
        named = {name for step in self.plan for name in step.columns}
        known = self.original.variables.values() if self.contract.version == "inferred" else ()
        absent = told_of_absent(variable for variable in known if variable.name in named)
        texts = f"Some texts were {absent}." if absent else ""
        told = (texts, told_of_emptied(self.emptied), told_of_impossible(self.impossible))
        lost = "".join(f" {each}" for each in told if each)
        return f"{read}{done}{lost} Nobody measured the disclosure risk of the result: not for release."

    @property
    def table(self) -> pd.DataFrame:
        known = self.released.variables | self.original.variables
        kinds = [known[name].kind.value for name in self.changes.index]
        table = self.changes.reset_index(names="column")
        table.insert(1, "taken for", kinds)
        return table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "frame" not in self.__dict__:  # while it is copied, there is none yet
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.frame, name)

    def __getitem__(self, key: Any) -> Any:
        return self.frame[key]

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frame)

    def __contains__(self, name: object) -> bool:
        return name in self.frame

    def transition_matrix(self, column: str) -> pd.DataFrame:
        """PRAM's matrix of a column, exactly: row an original category, column a released one, each row adds up to 1.

        raises : DataError where no step, or more than one matrix, transforms the column at random
        """
        found = [
            step.matrix[column]
            for carried in self.carried_out
            for step in _fitted(carried)
            if isinstance(step, Pram) and step.matrix is not None and column in step.matrix
        ]
        if len(found) != 1:
            treated = {name for step in self.plan if isinstance(step, Pram) for name in step.columns}
            raise DataError(
                f"{len(found)} PRAM matrices are those of {column!r}; 1 is wanted. Treated by PRAM: "
                f"{', '.join(sorted(treated)) or 'none'}.{did_you_mean(column, treated)} With strata, see carried_out."
            )
        return pd.DataFrame.from_dict(found[0], orient="index").reindex(columns=list(found[0])).fillna(0.0)

    def corrected_frequencies(self, column: str) -> "pd.Series[float]":
        """How many records each category of a column had before PRAM, estimated without bias from the masked file.

        A rare category may come out below 0; the sum is that of the masked file.

        raises : as `transition_matrix`; PlanError where the matrix is singular
        """
        matrix = self.transition_matrix(column)
        labels = self.frame[column].astype("str").where(self.frame[column].notna(), MISSING)
        counts = labels.value_counts().reindex(matrix.index, fill_value=0)
        return pd.Series(
            corrected_frequencies(counts.to_numpy().astype(np.int64), matrix.to_numpy()),
            index=matrix.index,
            name=column,
        )

    def anatomized_tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The two tables of an anatomization: who is in which group, and how often a group has each sensitive value.

        raises : DataError where the plan has no such step, or several; PlanError for a sensitive column named 'count'
        """
        steps = [step for step in self.plan if isinstance(step, Anatomization)]
        if len(steps) != 1:
            raise DataError(f"anatomized_tables needs one step of anatomization in the plan; it has {len(steps)}.")
        return anatomized_tables(self.frame, steps[0].columns, steps[0].group_column)

    def noise_variance(self, column: str) -> float:
        """Variance of the noise that `additive_noise` adds to a column, in the square of its unit.

        It is the step's amount times the variance (n - 1) of the values that the step found.

        raises : DataError where no such step, several, or another step before it treats the column, or one by strata
        """
        treating = [step for step in self.plan if step.concerns(column)]
        if len(treating) != 1 or not isinstance(treating[0], AdditiveNoise) or treating[0].strata:
            raise DataError(f"noise_variance needs additive_noise as the only step on {column!r}, without strata.")
        return float(treating[0].amount * self.original.frame[column].astype("float64").var(ddof=1))

    def plot(self, ax: "Axes | None" = None, column: str | None = None) -> "Axes":
        """How much of each column was changed; with `column`, its distribution before and after."""
        ax = axes(ax)
        if column is not None:
            return self._distribution(ax, column_name(column, "column", self.frame))
        places = np.arange(len(self.changes))
        changed, suppressed = (100 * self.changes[name].to_numpy() for name in ("changed", "suppressed"))
        ax.barh(places, changed, color=COLOURS["masked"], label="changed")
        ax.barh(places, suppressed, left=changed, color=COLOURS["fail"], label="suppressed")
        ax.set_yticks(places, list(self.changes.index), parse_math=False)
        ax.invert_yaxis()
        ax.set_xlim(0, 100)
        ax.set_xlabel("% of the cells, beyond recoding")
        ax.legend()
        return ax

    def _distribution(self, ax: "Axes", column: str) -> "Axes":
        before, after = self.original.frame[column], self.released.frame[column]
        variables = (self.original.variables[column], self.released.variables[column])
        if all(variable.kind.is_numeric for variable in variables):
            values = [each.dropna().to_numpy(np.float64) for each in (before, after)]
            bins = np.histogram_bin_edges(np.concatenate(values), bins=_MOST_BARS).tolist()
            for found, colour, label in zip(values, ("reference", "masked"), ("original", "masked"), strict=True):
                ax.hist(found, bins, color=COLOURS[colour], label=label, histtype="step", linewidth=1.8)
            ax.set_ylabel("records")
        else:
            counts = after.astype("string").fillna("missing").value_counts().head(_MOST_BARS)[::-1]
            ax.barh(range(len(counts)), counts.to_numpy(), color=COLOURS["masked"], label="masked")
            recoded = apply_recodings(self.carried_out, self.original.frame, self.original.variables)[column]
            known = recoded.astype("string").fillna("missing").value_counts().reindex(counts.index, fill_value=0)
            ax.plot(known.to_numpy(), range(len(counts)), "|", color=COLOURS["fail"], markersize=14, label="original")
            ax.set_yticks(range(len(counts)), list(counts.index), parse_math=False)
            ax.set_xlabel("records")
        ax.set_title(column, parse_math=False)
        ax.legend()
        return ax


def mask(
    frame: pd.DataFrame,
    plan: Plan,
    *,
    contract: ContractGiven | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    kinds: Mapping[str, str] | None = None,
    seed: Seed = None,
    accept_broken_rules: bool = False,
) -> Masked:
    """Carry a masking plan out on a DataFrame.

    frame    : records
    plan     : steps in order (docs/methods.md lists the methods): mappings as in a release definition, such as
               {"method": "pram", "columns": ["religion"], "retention": 0.8}; steps of `sluice.masking`; or the path of
               a YAML file
    contract : what the columns are; without one, their kinds are inferred and these say more:
               quasi_identifiers, sensitive, weight, household: columns by their role; kinds: {"schooling": "ordinal"}
    accept_broken_rules : return the frame though records break rules of the contract that they kept before
    seed     : a whole number, with which the same plan and data give the same result, that of `sluice mask` too; or a
               numpy Generator; without it, new each time
    raises   : TypeError, DataError, PlanError, DocumentError

    Without a contract, a column that no step names is in the result as it was given: dtype, values, missing ones.
    """
    frame = data_frame(frame, "frame")
    steps = _steps(plan)
    columns = Columns(contract, quasi_identifiers, sensitive, weight, household, kinds)
    known = columns.contract_for(frame)
    refuse_missing(known.staged, "frame", frame)
    untreated = not_named(steps, map(str, frame))
    as_they_came = untreated if contract is None else []
    refuse_unlike_kinds(frame[[name for name in frame if name not in untreated]])
    drawn = entropy(seed)
    met = Remarks()
    typed, variables = typed_table(_to_microseconds(frame, as_they_came), known, drawn, met)
    released = released_variables(steps, variables)
    seed_of_plan, rules = np.random.SeedSequence(drawn), known.record_rules
    masked, carried_out = apply_plan(steps, typed, variables, seed_of_plan, rules=rules)
    positions = masked.index.to_numpy()
    masked = masked.set_axis(frame.index[positions])
    recoded = apply_recodings(carried_out, typed, variables).iloc[positions]
    impossible = newly_broken(rules, typed.iloc[positions], recoded, masked, variables, released)
    if not accept_broken_rules:
        refuse_impossible(impossible, rules, steps, "accept_broken_rules=True")
    found = _changes(typed.iloc[positions], recoded, masked)
    as_they_came = [name for name in as_they_came if name in masked and masked[name].equals(recoded[name])]
    treated = [name for name in known.staged if name not in as_they_came]
    given = _as_given(frame.iloc[positions], masked, as_they_came, variables)
    given.attrs["sluice:judged"] = False
    return Masked(
        records_original=len(frame),
        records_masked=len(masked),
        steps=len(steps),
        columns_changed=int((found[["recoded", "changed", "suppressed"]] > 0).any(axis=1).sum()),
        columns_removed=frame.shape[1] - sum(name in masked for name in frame.columns),
        frame=given,
        kept=pd.Series(np.isin(np.arange(len(frame)), positions), index=frame.index, name="kept"),
        changes=found,
        plan=steps,
        carried_out=carried_out,
        blocks=moved_blocks(steps, typed, variables, seed_of_plan, rules=rules),
        parameters=tuple(known_of for step in carried_out if (known_of := step.parameters())),
        original=Records(typed, variables, frame.index, known.records_are),
        released=Records(masked.reset_index(drop=True), released, masked.index, known.records_are),
        contract=known,
        reading=(*remarks_on(frame, treated), *(remark for remark in met.all() if remark.column in treated)),
        emptied=emptied(typed.iloc[positions], masked),
        impossible=impossible,
    )


def _as_given(
    frame: pd.DataFrame, masked: pd.DataFrame, names: Sequence[str], variables: Mapping[str, Variable]
) -> pd.DataFrame:
    """The masked frame with these columns as they were given: what kind they were taken for changes no value of theirs.

    A name of a household stays the pseudonym that it became.
    """
    return with_columns(masked, {name: frame[name] for name in names if variables[name].role not in HASHED})


def _to_microseconds(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Moments of these columns, which come back as they were given, as finely as a typed frame has them."""
    finer = [name for name in names if str(frame[name].dtype).startswith("datetime64[ns")]
    return with_columns(frame, {name: frame[name].dt.floor("us") for name in finer})


def _steps(plan: object) -> tuple[MaskingStep, ...]:
    if isinstance(plan, str | Path):
        return load_plan(document(plan, "plan", _ALLOWED))
    written = [plan] if isinstance(plan, MaskingStep | Mapping) else plan
    if not isinstance(written, Sequence) or not all(isinstance(step, MaskingStep | Mapping) for step in written):
        raise TypeError(f"plan must be {_ALLOWED}; got {type(plan).__name__}.")
    content = [step if isinstance(step, MaskingStep) else dict(step) for step in written]
    return with_files(parse_document(MaskingPlan, {"plan": content}, "plan"))


def _fitted(carried_out: MaskingStep | ByStratum) -> tuple[MaskingStep, ...]:
    if isinstance(carried_out, ByStratum):
        return tuple(step for steps in carried_out.fitted.values() for step in steps)
    return (carried_out,)


def _changes(original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for name in masked:
        known = name in original
        changes = cell_changes(recoded[name], masked[name]) if known else None
        row: dict[str, Any] = {
            "recoded": cell_changes(original[name], recoded[name]).changed if known else np.nan,
            "changed": changes.changed if changes else np.nan,
            "suppressed": changes.suppressed if changes else np.nan,
            "mean_added": np.nan,
            "variance_added": np.nan,
        }
        numbers = [known and pd.api.types.is_numeric_dtype(frame[name].dtype) for frame in (original, masked)]
        if all(numbers):
            before, after = (frame[name].to_numpy(np.float64, na_value=np.nan) for frame in (original, masked))
            with np.errstate(over="ignore"):  # from 1e154 on the variance is infinite
                added = after - before
                added = added[np.isfinite(added)]
                row |= {"mean_added": added.mean() if len(added) else np.nan}
                row |= {"variance_added": added.var(ddof=1) if len(added) > 1 else np.nan}
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")
