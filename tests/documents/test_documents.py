"""Reading a YAML file: one that is not there is named, with the file that may be meant."""

from pathlib import Path

import pytest

from sluice.documents.documents import read_yaml
from sluice.errors import DocumentError


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("name: a\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"polcy\.yaml: no such file\. Did you mean 'policy\.yaml'\?"):
        read_yaml(tmp_path / "polcy.yaml")
    with pytest.raises(DocumentError, match=r"nowhere/policy\.yaml: no such file\.$"):
        read_yaml(tmp_path / "nowhere" / "policy.yaml")


def test_a_folder_is_no_document(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="is a folder; name a file in it"):
        read_yaml(tmp_path)
