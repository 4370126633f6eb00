"""Sentences have one code each, and are rendered from figures and names."""

import importlib
import pkgutil

import numpy as np
import pytest

import policies.rules
import sluice.risk
from sluice.ground.sentence import SENTENCES, Sentence, Statement, as_fields, listed, word, written
from sluice.ground.verdict import Finding, Verdict
from tests.golden import golden

FEW = Sentence(
    "test.few", "{below:,} of {share:percent} {below:is} alone with {below:its} {keys:listed} ({keys[0]:word})"
)
ASKED = Sentence("test.asked", "; {k:,} is asked.")
HIDDEN = Sentence("test.hidden", "It is not told.")
ONE = {"below": np.int64(1), "share": 0.125, "keys": ["years_married", "age"]}


def test_a_finding_tells_code_data_and_the_words_that_they_render() -> None:
    saying = FEW(**ONE) + ASKED(k=1000)
    finding = Finding(rule="few", verdict=Verdict.FAIL, **as_fields(saying))
    assert (finding.code, finding.data["below"]) == ("test.few", 1)
    assert finding.notes == (Statement(code="test.asked", data={"k": 1000}),)
    assert finding.saying == saying
    golden(finding.says)
    assert Finding.model_validate_json(finding.model_dump_json()) == finding


def test_what_is_added_stands_at_the_end() -> None:
    plain = Finding(rule="few", verdict=Verdict.FAIL, says="Few")
    assert plain.adding(ASKED(k=5)).says == "Few; 5 is asked."
    coded = Finding(rule="few", verdict=Verdict.FAIL, **as_fields(FEW(**ONE | {"below": 2}))).adding(ASKED(k=5))
    assert [said.code for said in coded.saying] == ["test.few", "test.asked"]
    assert coded.says == "".join(said.text for said in coded.saying)


def test_a_text_of_the_data_hides_nothing_in_words_code_or_notes() -> None:
    """Whoever writes the data chooses the names of categories: one that turns the line round, or adds one."""
    hostile = "north\u202e\nPASS\u200b"
    finding = Finding(rule="few", verdict=Verdict.FAIL, **as_fields(ASKED(k=5))).adding(
        FEW(**ONE | {"keys": [hostile]})
    )
    for text in (finding.says, *finding.notes[0].data["keys"]):
        assert not set(text) & set("\u202e\n\u200b")


def test_a_withheld_figure_is_not_in_the_data() -> None:
    finding = Finding(rule="few", verdict=Verdict.FAIL, observed=1, **as_fields(FEW(**ONE))).as_withheld(HIDDEN())
    assert (finding.observed, finding.code, finding.data, finding.notes) == (None, "test.hidden", {}, ())


def test_a_datum_has_no_more_digits_than_the_words_and_may_be_words_where_it_is_not_told() -> None:
    two = Sentence("test.two", "{share:percent} and {of:.2f} of {all:,}")
    (told,) = two(share=2 / 3, of=np.float64(1 / 3), all=1234)
    assert told.data == {"share": 0.667, "of": 0.33, "all": 1234}
    (hidden,) = two(share="fewer than 10", of=np.float64("inf"), all=1)
    assert hidden.text == "fewer than 10 and inf of 1"
    assert Sentence("test.named", "{name:word}, {name}")(name="nan")[0].text == "nan, nan"
    assert [word(name) for name in ("marital_status", "q20_6", "größe_2", "é_à")] == [
        "marital status",
        "q20_6",
        "größe_2",
        "é à",
    ]
    assert Statement.model_validate_json(hidden.model_dump_json()) == hidden


@pytest.mark.parametrize(
    ("spec", "figure", "told"),
    [
        ("percent", 0.0070000123, 0.007),
        ("percent", 6890.0, 6890.0),
        ("Percent", 3e-9, "under 0.0001 %"),
        ("points", 0.0352123, 0.0352),
        ("percent", 1e5, "over 1,000,000 %"),
        ("percent", 3e-9, "under 0.0001 %"),
        (".1%", 1 / 3, 0.333),
        ("per_10000", 1 / 873, 0.0011),
        ("people_1000", 0.00123456, 0.0012),
        ("People_1000", 12 / 1_000_000, "under 0.1 in every 1,000 people"),
        ("people_1000", 0.0, 0.0),
        ("people_1000", 1.0, 1.0),
        (".3g", 123_456, 123_000.0),
        (".3g", 12, 12),
        (",", 123_456, 123_456),
        ("verb_bring", 2, 2),
    ],
)
def test_a_datum_is_rounded_as_its_words_are(spec: str, figure: float, told: float | str) -> None:
    sentence = Sentence(f"test.rounded_{spec}", f"{{figure:{spec}}}")
    (said,) = sentence(figure=figure)
    assert said.data == {"figure": told}
    assert said.text == sentence.words_of({"figure": figure})
    assert sentence(**said.data) == (said,)


def test_what_the_words_do_not_tell_is_not_in_the_data() -> None:
    assert HIDDEN(share=0.125)[0].data == {}


def test_a_figure_is_written_as_the_saying_tells_it_or_another() -> None:
    said = Sentence("test.written", "{n} {n:is} {share:percent} of {limit:percent}.")(n=1, share=0.0599, limit=0.05)
    assert [written(said, each, like=0.05) for each in (0.0599, 0.2)] == ["5.99 %", "20 %"]
    assert written(said, 0.2, like=7) == ""


def test_a_code_has_one_sentence() -> None:
    Sentence(FEW.code, FEW.words)  # a module may be loaded twice
    with pytest.raises(ValueError):
        Sentence(FEW.code, "Other words.")


def test_every_code_of_a_rule_is_a_name_or_begins_with_one() -> None:
    for room in (policies.rules, sluice.risk):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    codes = [code for code in SENTENCES if not code.startswith("test.")]
    assert len(codes) > 60
    assert all(part.isidentifier() and part.islower() for code in codes for part in code.split("."))


def test_names_are_listed() -> None:
    assert [listed(names) for names in (["a_b"], ["a", "b"], ["a", "b", "c"])] == ["a b", "a and b", "a, b and c"]
