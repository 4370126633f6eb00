"""Errors: what a program reads of them, and the sentence that is rendered from it."""

import os
import pickle
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DataError, DocumentError, no_such_file
from tests.golden import golden


class Small(BaseModel):
    model_config = ConfigDict(extra="forbid")

    share: float = Field(ge=0, le=1)


def test_an_error_tells_field_names_and_hint_beside_its_sentence() -> None:
    error = DataError("no variable 'agee'.", field="columns", came="agee", allowed=["age", "sex"])
    assert (error.field, error.came, error.allowed) == ("columns", "agee", ("age", "sex"))
    assert error.hint == "Did you mean 'age'?"
    golden(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_word_that_yaml_reads_as_a_truth_value_is_to_be_quoted() -> None:
    """`labels: {no: healthy}` of the categories "no" and "yes" names 'false', which nobody wrote."""
    for came, written in (("false", "no"), ("true", "yes")):
        assert f'"{written}"' in DataError("no such category.", came=came, allowed=["no", "yes"]).hint
    assert "YAML" not in DataError("no such category.", came="false", allowed=["true", "fals"]).hint


def test_nothing_is_added_to_a_sentence_alone() -> None:
    assert str(DataError("It is so.")) == "It is so."
    assert str(DataError("It is so.", came="x", allowed=["quite different"])) == "It is so."
    assert str(DataError("It is so.", hint="Wait.")) == "It is so. Wait."


def test_a_refused_document_tells_each_fault() -> None:
    with pytest.raises(DocumentError) as refused:
        parse_document(Small, {"share": 40, "shared": 1}, "small.yaml")
    share, shared = refused.value.faults
    assert (share.field, share.hint, share.allowed) == ("share", "Is it a percentage? Use 0.4.", ())
    assert (shared.field, shared.allowed) == ("shared", ("share",))
    golden(refused.value)
    assert [line.removeprefix("  - ") for line in str(refused.value).splitlines()[1:]] == [str(share), str(shared)]


def test_a_pipe_is_not_said_to_be_absent(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    assert "pipe" in no_such_file(tmp_path / "p")
