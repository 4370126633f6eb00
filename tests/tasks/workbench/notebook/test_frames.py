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

NO_FRAMES: dict[str, tuple[object, type[Exception]]] = {
    "list": ([[1, 2]], TypeError),
    "dict": ({"a": [1]}, TypeError),
    "str": ("people.csv", TypeError),
    "series": (pd.Series([1]), TypeError),
    "no_record": (pd.DataFrame({"a": []}), DataError),
    "no_column": (pd.DataFrame(index=[0]), DataError),
    "named_twice": (pd.DataFrame([[1, 2]], columns=["a", "a"]), DataError),
    "no_names": (pd.DataFrame([[1, 2]]), DataError),
    "two_levels": (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), DataError),
}


@pytest.mark.parametrize("kind", NO_FRAMES)
def test_what_is_no_plain_frame_is_refused_by_every_argument_in_the_same_words(kind: str) -> None:
    frame, error = NO_FRAMES[kind]
    said = set()
    for argument, takes in TAKES.items():
        with pytest.raises(error) as refused:
            takes(frame)
        name, _, says = str(refused.value).partition(" ")
        assert name == argument.partition(": ")[2], argument
        said.add(says)
    golden(said)


@pytest.mark.parametrize("argument", [each for each in TAKES if each.partition(": ")[2] not in OPTIONAL])
def test_none_at_all_is_refused(argument: str) -> None:
    golden.refused(TypeError, TAKES[argument], None)
