"""The Data Package descriptor, against the rules of the standard's version 2.

`test_frictionless` asks frictionless, which knows the standard's version 1 with its names, types, hashes, byte counts
and constraints; it does not check `categories`.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.ground.variables import Kind, Variable
from sluice.ground.visible_text import unseen
from sluice.publication.datapackage import records_datapackage
from sluice.publication.manifest import PublishedFile

CSV = PublishedFile(path="data.csv", sha256="a" * 64, bytes=120, rows=10)


def test_a_label_that_two_categories_share_is_made_unique() -> None:
    variable = Variable(
        name="x", kind=Kind.NOMINAL, categories=("1", "2", "9"), labels={"1": "other", "2": "other", "9": "none"}
    )
    package = records_datapackage("x", "x", "x", {"x": variable}, {}, [CSV])
    labels = [entry["label"] for entry in package["resources"][0]["schema"]["fields"][0]["categories"]]
    assert labels == ["other (1)", "other (2)", "none"]


def test_a_bound_at_infinity_is_no_bound() -> None:
    variable = Variable(name="x", kind=Kind.CONTINUOUS, minimum=-math.inf, maximum=1.5)
    package = records_datapackage("x", "x", "x", {"x": variable}, {}, [CSV])
    assert package["resources"][0]["schema"]["fields"][0]["constraints"] == {"required": True, "maximum": 1.5}


CATEGORIES = st.text(min_size=1, max_size=6).filter(lambda text: not unseen(text, one_line=True))


@given(st.lists(CATEGORIES, min_size=1, max_size=6, unique=True), st.booleans())
def test_any_categories_give_unique_values_and_labels(values: list[str], labelled: bool) -> None:
    labels = {value: value[0] for value in values} if labelled else {}
    variable = Variable(name="x", kind=Kind.ORDINAL, categories=tuple(values), labels=labels)
    field = records_datapackage("x", "x", "x", {"x": variable}, {}, [CSV])["resources"][0]["schema"]["fields"][0]
    assert field["constraints"]["enum"] == values
    if labelled:
        assert [entry["value"] for entry in field["categories"]] == values
        assert len({entry["label"] for entry in field["categories"]}) == len(values)
    else:
        assert field["categories"] == values


@pytest.mark.parametrize("wrong", [{"sha256": "short"}, {"bytes": -1}, {"rows": -1}, {"path": ""}, {"vault": "/x"}])
def test_a_file_that_is_no_published_file_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PublishedFile.model_validate({"path": "data.csv", "sha256": "a" * 64, "bytes": 1, **wrong})
