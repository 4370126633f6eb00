"""Singling out as a rule."""

import pandas as pd

from policies.rules.control_rules import SinglingOut
from sluice.ground.errors import DataError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.rules.people_and_control import ORIGINAL, STRANGERS, VARIABLES, attacked


def test_a_file_that_describes_nobody_is_unknown() -> None:
    constant = pd.concat([ORIGINAL.iloc[:1]] * 100)
    (finding,) = SinglingOut(limit=0.1).find(attacked(constant))
    assert finding.verdict is Verdict.UNKNOWN
    assert (finding.attempted, finding.completed) == (2000, 0)
    golden.words(finding.says)


def test_released_columns_that_the_original_lacks_are_named() -> None:
    more = VARIABLES | {"area=a": Variable(name="area=a", kind="continuous")}
    case = Comparison(**{**vars(attacked(STRANGERS.assign(**{"area=a": 0.5}))), "released": more})
    (finding,) = SinglingOut(limit=0.1).find(case)
    assert finding.verdict is Verdict.PASS
    golden.words(finding.says)


def test_columns_that_are_missing_are_named() -> None:
    golden.refused(DataError, SinglingOut(limit=0.1, columns=("hight", "age", "sex")).find, attacked(STRANGERS))
