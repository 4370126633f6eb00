from pathlib import Path

import pytest

from sluice.errors import DataError, DocumentError
from tasks.tuning.tuning import output_of


def test_the_recommended_plan_overwrites_nothing(tmp_path: Path) -> None:
    definition, policy, elsewhere = tmp_path / "plan.yaml", tmp_path / "policy.yaml", tmp_path / "others"
    definition.touch()
    policy.touch()
    elsewhere.mkdir()
    tuned = tmp_path / "plan-tuned.yaml"
    assert output_of(definition, None) == tuned
    with pytest.raises(DataError, match="would overwrite"):
        output_of(definition, definition)
    with pytest.raises(DataError, match="overwrites nothing"):
        output_of(definition, policy)
    tuned.symlink_to(tmp_path / "nowhere.yaml")
    with pytest.raises(DataError, match="overwrites nothing"):
        output_of(definition, None)
    for outside in (elsewhere / "plan.yaml", tmp_path / ".." / "plan.yaml"):
        with pytest.raises(DocumentError, match="must lie beside"):
            output_of(definition, outside)
