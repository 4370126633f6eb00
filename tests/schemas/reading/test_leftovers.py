"""Columns of which nothing is known by themselves: what those beside them say, and what is marked for a person."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schemas.reading.overview import overview
from schemas.reading.proposal import Proposals, propose
from sluice.ground.variables import Role
from sluice.sources.csv_source import CsvSource

N = np.arange(600)
ANSWERS = N % 4


def ticks(**places: int | None) -> pd.DataFrame:
    """A column for each name, of 1 where the answer is in that place and else 0; None of 0 and 1 at will."""
    at_will = (N * 7919 % 5 == 0).astype(int)
    return pd.DataFrame({name: at_will if at is None else (at == ANSWERS).astype(int) for name, at in places.items()})


def of(frame: pd.DataFrame, folder: Path) -> Proposals:
    frame.assign(region=np.take(list("NESW"), N * 31 % 4), income=N * 37 % 599 * 11).to_csv(
        folder / "x.csv", index=False
    )
    return propose(overview(CsvSource(path=(str(folder / "x.csv"),))))


@pytest.mark.parametrize(
    ("places", "known"),
    [
        ({"south": 0, "nn": 1, "qq": 2, "vv": 3}, True),  # every record has exactly one
        ({"south": 0, "nn": 1, "qq": 2}, False),  # some have none
        ({"south": 0, "nn": 1, "qq": None, "vv": 3}, False),  # some have two
        ({"ww": 0, "nn": 1, "qq": 2, "vv": 3}, False),  # none of them is known
    ],
)
def test_of_one_question_what_is_known_of_one_answer_holds_of_all(
    tmp_path: Path, places: dict[str, int | None], known: bool
) -> None:
    found = of(ticks(**places), tmp_path)
    role = Role.QUASI_IDENTIFIER if known else Role.OTHER
    assert {(found.by_name(name).role, found.by_name(name).sure) for name in ("nn", "qq")} == {(role, False)}


@pytest.mark.parametrize(
    ("beside", "role"),
    [
        (("nausea", "chemo", "hormon"), Role.SENSITIVE),
        (("nausea", "chemo", "colour"), Role.OTHER),  # two columns make no file of patients
    ],
)
def test_what_is_left_in_a_file_of_patients_is_a_finding(tmp_path: Path, beside: tuple[str, ...], role: Role) -> None:
    found = of(ticks(**dict.fromkeys((*beside, "grade_x", "year"))), tmp_path)
    assert (found.by_name("grade_x").role, found.by_name("grade_x").sure) == (role, False)
    assert found.by_name("year").role is Role.OTHER


def test_what_nothing_speaks_for_is_to_be_checked_and_what_is_called_so_is_not(tmp_path: Path) -> None:
    frame = ticks(zz=None, flag=None).assign(mood=np.take(["never", "sometimes", "often"], N % 3))
    found = of(frame, tmp_path)
    assert {name: found.by_name(name).sure for name in ("zz", "flag", "mood")} == {
        "zz": False, "flag": True, "mood": True
    }  # fmt: skip


def test_numbers_of_children_that_run_through_name_each(tmp_path: Path) -> None:
    found = of(pd.DataFrame({"kid": N + 1, "kids": N % 4}), tmp_path)
    assert [found.by_name(name).role for name in ("kid", "kids")] == [Role.IDENTIFIER, Role.QUASI_IDENTIFIER]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("zq80", N % 3, Role.QUASI_IDENTIFIER),  # as zq, of another year
        ("zz80", N % 3, Role.OTHER),
        ("id", N % 200, Role.PERSON),  # of many values, each of several records of one sex
        ("id", N * 7919 % 211, Role.IDENTIFIER),
        ("x_id", N % 3, Role.OTHER),
    ],
)
def test_what_is_called_as_another_or_numbers_somebody_is_not_let_go(
    tmp_path: Path, name: str, values: np.ndarray, role: Role
) -> None:
    frame = pd.DataFrame({"zq": np.take(["female", "male"], N % 2), name: values})
    proposed = of(frame, tmp_path).by_name(name)
    assert (proposed.role, proposed.sure) == (role, False)


def test_a_private_yes_or_no_does_not_make_amounts_harmless(tmp_path: Path) -> None:
    amounts = pd.DataFrame({"diabetes": N % 2, "zz": (N * 7919 % 600 + 1) ** 2, "sex": N // 2 % 2})
    amounts.to_csv(tmp_path / "x.csv", index=False)
    found = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),))))
    assert [found.by_name(name).role for name in ("diabetes", "zz")] == [Role.SENSITIVE, Role.SENSITIVE]
