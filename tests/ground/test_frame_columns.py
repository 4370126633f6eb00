from pathlib import Path

import pandas as pd

from sluice.ground.frame_columns import with_columns

ROOT = Path(__file__).parents[2]


def test_a_column_may_be_called_as_an_argument_is() -> None:
    frame = pd.DataFrame({"self": [1, 2], "a": ["x", "y"]})
    changed = with_columns(frame, {"self": pd.Series([3, 4]), "b": 1})
    assert changed.to_dict("list") == {"self": [3, 4], "a": ["x", "y"], "b": [1, 1]}
    assert frame.to_dict("list") == {"self": [1, 2], "a": ["x", "y"]}


def test_nothing_else_takes_names_of_columns_for_names_of_arguments() -> None:
    files = [path for folder in ("sluice", "policies", "tasks", "flows") for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in files if ".assign(**" in path.read_text(encoding="utf-8")]
