"""A source in memory, typed by its contract."""

from collections.abc import Iterable

import pandas as pd

from schemas.contract import Contract
from schemas.reading.typing import Pseudonym, SourceTyping
from sluice.ground.variables import Variable


def type_batch(raw: pd.DataFrame, contract: Contract, pseudonym: Pseudonym) -> pd.DataFrame:
    """The typed frame of a source that is one batch. Raises DataError with every column, check and count."""
    typing = SourceTyping(contract, pseudonym)
    frame = typing.type_batch(raw)
    typing.variables()
    return frame


def type_source(
    batches: Iterable[pd.DataFrame], contract: Contract, pseudonym: Pseudonym, decimal_mark: str = "."
) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """The whole source as one typed frame in memory, and its variables; raises as `SourceTyping.variables` does."""
    typing = SourceTyping(contract, pseudonym, decimal_mark)
    parts = [typing.type_batch(raw) for raw in batches]
    variables = typing.variables()
    for part in parts:
        for name in part.columns[part.dtypes == "category"]:
            part[name] = part[name].cat.set_categories(variables[name].categories or ())
    return pd.concat(parts, ignore_index=True), variables
