"""Great Expectations checks the same records by the same contract once in all processes of the test session, and of
records that plainly keep a whole contract only the first.

It takes a third of what a whole release costs, and most test houses have the records of another. What stands for it
remembers which clauses held, and the pages that were written of them: of values, they hold nothing. `tests/schemas`
asks the library each time.
"""

import hashlib
import os
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from schemas.checks.data_docs import _write
from schemas.checks.expectations import Clause
from schemas.checks.expectations_run import _run
from schemas.contract import Contract

Outcomes = dict[int, bool | None]

_MOST = 300  # that are remembered, of some 100 kB each

_known: dict[str, tuple[Outcomes, dict[Path, str]]] = {}


def validated_once(
    contract: Contract, clauses: list[Clause], values: pd.DataFrame, docs: Path | None, folder: Path | None = None
) -> tuple[Outcomes, bool]:
    """As `expectations_run._run`, in whose place it stands. The processes that share a folder find there what others
    found."""
    if docs is None:
        kept = dict.fromkeys(range(len(clauses)), True) if _is_kept(clauses, values) else None
        return (kept, True) if kept else _run(contract, clauses, values, docs)
    key = _key(contract, clauses, values)
    noted = folder / key if folder is not None else None
    if key not in _known and noted is not None and noted.exists():
        _known[key] = pickle.loads(noted.read_bytes())
    if key not in _known:
        outcomes, written = _run(contract, clauses, values, docs)
        if written and len(_known) < _MOST and len(outcomes) == len(clauses) and None not in outcomes.values():
            pages = [page for page in docs.rglob("*.html") if page.parent != docs]
            _known[key] = outcomes, {page.relative_to(docs): page.read_text(encoding="utf-8") for page in pages}
            if noted is not None:
                noted.parent.mkdir(exist_ok=True)
                begun = noted.with_suffix(f".{os.getpid()}")
                begun.write_bytes(pickle.dumps(_known[key]))
                begun.replace(noted)
        assert not _is_kept(clauses, values) or None in outcomes.values() or all(outcomes.values()), outcomes
        return outcomes, written
    outcomes, texts = _known[key]
    shutil.rmtree(docs / "validations", ignore_errors=True)
    try:
        for page, text in texts.items():
            _write(docs / page, text)
    except OSError:
        return dict(outcomes), False
    return dict(outcomes), True


def _key(contract: Contract, clauses: Sequence[Clause], values: pd.DataFrame) -> str:
    asked = [(clause.expectation, clause.arguments) for clause in clauses]
    told = f"{contract.model_dump_json()}\n{clauses}\n{asked}\n{values.dtypes.to_dict()}"
    records = b"" if _is_kept(clauses, values) else pd.util.hash_pandas_object(values, index=False).to_numpy().tobytes()
    return hashlib.sha256(told.encode() + records).hexdigest()


def _is_kept(clauses: Sequence[Clause], values: pd.DataFrame) -> bool:
    return all(_holds(values, clause.expectation, **clause.arguments) for clause in clauses)


def _holds(
    values: pd.DataFrame,
    expectation: str,
    column: str = "",
    mostly: float = 1.0,
    min_value: Any = None,
    max_value: Any = None,
    value_set: Sequence[str] = (),
) -> bool:
    """Whether it plainly does; False where only Great Expectations can tell."""
    if column and (column not in values or not values[column].notna().any()):
        return False
    given = values[column].dropna() if column else pd.Series([len(values)])
    match expectation:
        case "ExpectColumnValuesToNotBeNull":
            return len(given) >= mostly * len(values)
        case "ExpectColumnValuesToBeInSet":
            return bool(given.isin(value_set).all())
        case "ExpectColumnMaxToBeBetween":
            given = given.nlargest(1)
        case "ExpectTableRowCountToBeBetween" | "ExpectColumnValuesToBeBetween":
            pass
        case _:
            return False
    return bool((min_value is None or (given >= min_value).all()) and (max_value is None or (given <= max_value).all()))
