"""Any pandas frame as a typed frame with its variables: kinds by the values, categories as found, roles left open."""

import pandas as pd

from schemas.reading.contract_draft import inferred_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.variables import Variable


def typed_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """The index is kept. Raises DataError as the typing of a source does."""
    typing = SourceTyping(inferred_contract(frame, "frame", {}), lambda name, text: text)
    typed = typing.type_batch(frame).set_axis(frame.index)
    variables = {
        name: variable.model_copy(update={"missing_codes": ()}) for name, variable in typing.variables().items()
    }
    return typed, variables
