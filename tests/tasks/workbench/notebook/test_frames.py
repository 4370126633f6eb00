"""Whatever a function takes as records must be a plain frame, and it says which of its arguments is none."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from tests.golden import golden

PEOPLE = pd.DataFrame({"a": ["x", "x", "y", "y"] * 5, "b": [1.0, 2.0, 3.0, 4.0] * 5, "weight": 2.0})
COUNTS = [{"rule": "minimum_frequency", "n": 3}]
KEYS: dict[str, Any] = {"quasi_identifiers": ["a"], "sensitive": ["b"]}

TAKES: dict[str, Callable[[Any], object]] = {
    "assess: original": lambda frame: sluice.assess(frame, PEOPLE, **KEYS),
    "assess: masked": lambda frame: sluice.assess(PEOPLE, frame, **KEYS),
    "audit: table": lambda frame: sluice.audit(frame, ["a"]),
    "audit: known": lambda frame: sluice.audit(sluice.protect(PEOPLE, ["a"], rules=COUNTS).pattern, ["a"], known=frame),
    "disassociate: frame": lambda frame: sluice.disassociate(frame, "a"),
    "individual_risk: frame": lambda frame: sluice.individual_risk(frame, ["a"], weight="weight"),
    "k_anonymity: frame": lambda frame: sluice.k_anonymity(frame, ["a"]),
    "mask: frame": lambda frame: sluice.mask(frame, {"method": "rounding", "columns": ["b"], "base": 2}),
    "protect: records": lambda frame: sluice.protect(frame, ["a"], rules=COUNTS),
    "protect: previous": lambda frame: sluice.protect(PEOPLE, ["a"], rules=COUNTS, previous=frame),
    "reference_standard: original": lambda frame: sluice.reference_standard(frame, PEOPLE, **KEYS),
    "reference_standard: masked": lambda frame: sluice.reference_standard(PEOPLE, frame, **KEYS),
    "singling_out: original": lambda frame: sluice.singling_out(frame, PEOPLE, PEOPLE),
    "singling_out: masked": lambda frame: sluice.singling_out(PEOPLE, frame, PEOPLE),
    "singling_out: control": lambda frame: sluice.singling_out(PEOPLE, PEOPLE, frame),
    "suda: frame": lambda frame: sluice.suda(frame, ["a"]),
}

OPTIONAL = ("known", "previous", "control")

NO_FRAMES: list[tuple[object, type[Exception], str]] = [
    ([[1, 2]], TypeError, r"must be a pandas DataFrame; got list. Make it one: pandas.DataFrame\(...\)"),
    ({"a": [1]}, TypeError, r"must be a pandas DataFrame; got dict. Make it one: pandas.DataFrame\(...\)"),
    ("people.csv", TypeError, "must be a pandas DataFrame; got str"),
    (pd.Series([1]), TypeError, "must be a pandas DataFrame; got Series"),
    (pd.DataFrame({"a": []}), DataError, "must hold at least 1 record; got none"),
    (pd.DataFrame(index=[0]), DataError, "must have at least 1 column; got none"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), DataError, "must name each column once; named again: 'a'"),
    (pd.DataFrame([[1, 2]]), DataError, "must have columns named by texts; 2 of 2 are not"),
    (
        pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
        DataError,
        "must have one level of column names; got 2",
    ),
]


@pytest.mark.parametrize(("frame", "error", "says"), NO_FRAMES, ids=[says for _, _, says in NO_FRAMES])
@pytest.mark.parametrize("argument", TAKES)
def test_what_is_no_plain_frame_is_refused(argument: str, frame: object, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=f"^{argument.partition(': ')[2]} {says}"):
        TAKES[argument](frame)


@pytest.mark.parametrize("argument", [each for each in TAKES if each.partition(": ")[2] not in OPTIONAL])
def test_none_at_all_is_refused(argument: str) -> None:
    golden.refused(TypeError, TAKES[argument], None)
