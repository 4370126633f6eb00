"""Columns that name people under a function which is no order."""

from dataclasses import replace

import numpy as np
import pandas as pd

from policies.standard.hidden_names import judge_hidden_names
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.red_team.files import files_of

N = 800
RNG = np.random.default_rng(1)
AGE = RNG.normal(45, 12, N)
FRAME = pd.DataFrame({"age": AGE, "income": AGE * 100 + RNG.normal(0, 500, N), "number": RNG.permutation(N) * 1.0})
CIPHERED = FRAME.assign(number=FRAME["number"] * 741_457 % 1_000_003)
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in FRAME}


def judged(files: Comparison) -> Finding:
    (found,) = judge_hidden_names(files)
    return found


def test_a_cipher_asks_for_a_decision() -> None:
    files = files_of(FRAME, CIPHERED, VARIABLES)
    found = judged(files)
    assert (found.verdict, found.code, found.data["names"]) == (Verdict.REVIEW, "hidden_names.found", ("number",))
    assert judged(replace(files, paired=False)).verdict is Verdict.REVIEW
    golden(found)


def test_a_plan_says_how_values_were_made() -> None:
    assert judged(files_of(FRAME, CIPHERED, VARIABLES, carried_out=())).code == "hidden_names.by_plan"


def test_what_is_measured_or_was_declared_to_name_people() -> None:
    assert judged(files_of(FRAME, FRAME, VARIABLES)).verdict is Verdict.PASS  # others see what is verbatim
    named = VARIABLES | {"number": VARIABLES["number"].model_copy(update={"role": Role.HOUSEHOLD})}
    assert judged(files_of(FRAME, CIPHERED, named)).verdict is Verdict.PASS
    rows = FRAME.iloc[:100]
    assert judged(files_of(rows, CIPHERED.iloc[:100], VARIABLES)).verdict is Verdict.PASS  # too few to tell
