"""Fifty million records of coded categories: recoded, counted, suppressed, written and read back, in one process.

    python -m benchmarks coded_categories

Six quasi-identifiers of 2 to 40 categories, drawn; two are generalised by one level, then single values are suppressed
until every combination is shared by three. The steps are those that a release takes up to what lies on the shelf; what
judges a release is not run.

Then the evaluation of 20,000 records of six variables, of which one has 50 to 5,000 codes: by all that the policy for
perturbed files asks of a masked file but its use.
"""

import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.large_tables import peak_memory
from policies.policy import load_policy
from schemas.checks.frame_check import check_released
from sluice.ground.durable import sha256_of
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import decide
from sluice.masking.plan import apply_plan, released_variables
from sluice.masking.recoding.generalized_levels import GeneralizedLevels
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.publication.records_file import read_typed, write_csv, write_parquet
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.utility.comparison import Comparison
from tasks.release.records.record_findings import check_masked, risk_findings

_CATEGORIES = {"age": 18, "sex": 2, "region": 40, "education": 8, "status": 6, "work": 9}
_RECODED = ("age", "region")
_CHUNK = 1_000_000
PLAN = (
    GeneralizedLevels(
        columns=_RECODED, levels=dict.fromkeys(_RECODED, 1), allowed=dict.fromkeys(_RECODED, (1, 1))
    ),
    LocalSuppression(columns=tuple(_CATEGORIES), k=3),
)  # fmt: skip


def main(quick: bool = False) -> None:
    """Print seconds of the processor and the peak of memory of each step."""
    size = 1_000_000 if quick else 50_000_000
    variables = {name: _variable(name, count) for name, count in _CATEGORIES.items()}
    print(f"{size:,} records of {len(variables)} categories")
    frame = _drawn(variables, size)
    with _measured("recoding, suppression"):
        masked, _ = apply_plan(PLAN, frame, variables, np.random.SeedSequence(2))
    with _measured("class counts"):
        smallest = int(classes_of(masked, [*variables]).sizes.min())
    del frame
    with _measured("order of the records"):
        masked = masked.iloc[np.random.default_rng(3).permutation(size)].reset_index(drop=True)
    released = released_variables(PLAN, variables)
    with tempfile.TemporaryDirectory() as folder:
        parquet, csv = Path(folder) / "masked.parquet", Path(folder) / "masked.csv"
        with _measured("Parquet"):
            write_parquet(masked, parquet, released)
        with _measured("CSV"):
            write_csv(masked, csv)
        del masked
        with _measured("SHA-256 of both"):
            for path in (parquet, csv):
                with path.open("rb") as file:
                    sha256_of(file)
        with _measured("read back, checked"):
            verdict = decide(check_released(read_typed(parquet, released), released))
    print(f"smallest class {smallest}; what was read back: {verdict.name}")
    for codes in (50, 500) if quick else (50, 500, 1_500, 5_000):
        with _measured(f"evaluation, {codes:,} codes"):
            _evaluate(_of_many_codes(codes))


def _variable(name: str, count: int) -> Variable:
    labels = tuple(f"{name} {place}" for place in range(count))
    groups = Hierarchy(rows={label: (f"{name} group {place // 3}",) for place, label in enumerate(labels)})
    return Variable(
        name=name, kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=labels, hierarchy=groups
    )  # fmt: skip


def _drawn(variables: dict[str, Variable], size: int) -> pd.DataFrame:
    rng, columns = np.random.default_rng(1), {}
    for name, variable in variables.items():
        assert variable.categories is not None
        shares = 1 / np.arange(1, len(variable.categories) + 1) ** 1.3
        codes = np.empty(size, np.int8)
        for start in range(0, size, _CHUNK):
            rows = min(_CHUNK, size - start)
            codes[start : start + rows] = rng.choice(len(shares), rows, p=shares / shares.sum())
        columns[name] = pd.Categorical.from_codes(codes, pd.Index(variable.categories, dtype="str"))
    return pd.DataFrame(columns, copy=False)


def _of_many_codes(codes: int, records: int = 20_000) -> Comparison:
    """One variable of so many codes, of which few are frequent, beside five others; the records are exchanged."""
    rng = np.random.default_rng(1)
    labels = tuple(f"code {place}" for place in range(codes))
    shares = 1 / np.arange(1, codes + 1) ** 0.5
    common = rng.normal(size=records)
    frame = pd.DataFrame({
        "code": pd.Categorical.from_codes(rng.choice(codes, records, p=shares / shares.sum()), pd.Index(labels)),
        "sex": pd.Categorical(np.where(common + rng.normal(size=records) > 0, "f", "m")),
        "area": pd.Categorical(np.char.add("area ", rng.integers(0, 12, records).astype(str))),
        "age": pd.array(np.clip(40 + 15 * common, 0, 99).astype(int), dtype="Int64"),
        "income": np.exp(10 + 0.5 * common + 0.7 * rng.normal(size=records)),
        "hours": 30 + 5 * common + 4 * rng.normal(size=records),
    })  # fmt: skip
    kinds = (Kind.NOMINAL, Kind.BINARY, Kind.NOMINAL, Kind.INTEGER, Kind.CONTINUOUS, Kind.CONTINUOUS)
    roles = (*[Role.QUASI_IDENTIFIER] * 4, Role.SENSITIVE, Role.OTHER)
    variables = {
        name: Variable(name=name, kind=kind, role=role)
        for name, kind, role in zip(frame.columns, kinds, roles, strict=True)
    }
    masked = frame.iloc[rng.permutation(records)].reset_index(drop=True)
    return Comparison(frame, frame, masked, None, variables, variables, np.random.default_rng(5))


def _evaluate(files: Comparison) -> None:
    policy = load_policy(Path(__file__).parents[1] / "policies" / "perturbed-file.yaml")
    for found in (check_masked(policy, files), risk_findings(policy, files)):
        deque(found, maxlen=0)  # each is measured when it is asked for


@contextmanager
def _measured(step: str) -> Iterator[None]:
    begun = process_time()
    with peak_memory() as peak:
        yield
    print(f"{step:<24} {process_time() - begun:>8.1f} s {peak[0] / 1e9:>6.2f} GB", flush=True)


if __name__ == "__main__":
    main()
