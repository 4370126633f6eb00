"""k-anonymity as a rule."""

from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.rule import Background
from sluice.ground.sentence import Statement, as_fields
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.k_anonymity import KAnonymity, k_anonymity, records_below
from sluice.risk.classes.sample_uniques import sample_uniques, sample_uniques_share
from tests.golden import golden
from tests.risk.classes.married_women import VARIABLES, one, typed

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def test_testdata_has_the_risky_records_that_sdcmicro_counts(reference_data: Path) -> None:
    """sdcMicro, for its `testdata` and these 7 keys: 157, 281 and 458 records violate 2-, 3- and 5-anonymity."""
    frame = pd.read_csv(reference_data / "sdcmicro_testdata" / "testdata.csv.gz")[KEYS].astype("category")
    frequencies = classes_of(frame, KEYS).frequencies
    assert (sample_uniques(frequencies), records_below(frequencies, 3), records_below(frequencies, 5)) == (
        157,
        281,
        458,
    )
    assert records_below(frequencies, 2) == 157
    assert k_anonymity(frequencies) == 1
    assert sample_uniques_share(frequencies) == 157 / 4580


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.lists(st.integers(0, 1), min_size=20, max_size=20))
def test_a_further_key_never_enlarges_the_crowd(one: list[int], two: list[int]) -> None:
    frame = pd.DataFrame({"one": one, "two": two[: len(one)]}, dtype="Int64")
    fewer = classes_of(frame, ["one"]).frequencies
    more = classes_of(frame, ["one", "two"]).frequencies
    assert k_anonymity(more) <= k_anonymity(fewer) <= len(frame)
    assert sample_uniques(more) >= sample_uniques(fewer)
    assert records_below(more, k_anonymity(more)) == 0 < records_below(more, k_anonymity(more) + 1)


def test_a_record_with_a_missing_key_is_counted_not_dropped() -> None:
    """A group-by that drops missing keys reports 3 here, although one record stands alone."""
    frame = pd.DataFrame({"age": ["30", "30", "30", None]}).astype("category")
    assert k_anonymity(classes_of(frame, ["age"]).frequencies) == 1
    assert matching_records(frame, ["age"]).tolist() == [3, 3, 3, 4]


def test_extremes() -> None:
    alone, together = np.array([1]), np.full(6, 6)
    assert (k_anonymity(alone), sample_uniques_share(alone), records_below(alone, 1)) == (1, 1.0, 0)
    assert (k_anonymity(together), sample_uniques_share(together), records_below(together, 7)) == (6, 0.0, 6)


def test_a_file_with_uniques_fails_k_anonymity_and_says_so_in_plain_words() -> None:
    finding = one(KAnonymity(k=5), typed([30] * 6 + [41, 42]), unit="women")
    assert finding == Finding(
        rule="k_anonymity",
        verdict=Verdict.FAIL,
        stage="masked",
        scope="age, years_married",
        observed=1,
        limit=5,
        attempted=8,
        completed=8,
        **as_fields(
            (
                Statement(code="alone", data={"alone": 2, "n": 8, "unit": "women", "keys": ("age", "years_married")}),
                Statement(code="k_anonymity.asked", data={"k": 5}),
                Statement(code="end"),
            )
        ),
    )


def test_the_words_fit_one_unique_small_groups_and_a_pass() -> None:
    golden(one(KAnonymity(k=3), typed([30, 30, 30, 41])).says)
    both = one(KAnonymity(k=4), typed([30, 30, 30, 41]))
    golden(both.says)
    passed = one(KAnonymity(k=2), typed([30, 30, 41, 41, 41]))
    assert passed.verdict is Verdict.PASS
    golden(passed.says)


def test_a_missing_key_matches_any_where_the_policy_says_so() -> None:
    lenient = one(KAnonymity(k=3, missing_matches="any"), typed([30, 30, 30, None]))
    assert (lenient.verdict, lenient.observed) == (Verdict.PASS, 3)
    golden.words(lenient.says)


def test_a_blank_record_vouches_for_nobody_and_is_found_by_what_its_person_is_known_for() -> None:
    rule = KAnonymity(k=3, missing_matches="any")
    blanks = one(rule, typed([30, 30, 30, 41, None, None]))
    assert (blanks.verdict, blanks.observed) == (Verdict.FAIL, 1)
    before, after = typed([30, 30, 30, 41]), typed([30, 30, 30, None])
    assert one(rule, after).verdict is Verdict.PASS  # nobody knows who it was
    found = one(rule, after, background=Background(before))  # whoever is 41 can only be the record without an age
    assert (found.verdict, found.observed) == (Verdict.FAIL, 1)
    hidden = one(rule, typed([30, 30, 30, None, None, None]), background=Background(typed([30, 30, 30, 41, 42, 43])))
    assert hidden.verdict is Verdict.PASS


def test_people_are_counted_where_they_are_known() -> None:
    """Five stays of one patient are a crowd of one."""
    person = Variable(name="patient", kind=Kind.TEXT, role=Role.PERSON)
    stays = typed([30] * 5 + [41] * 3).assign(patient=["a"] * 5 + ["b", "c", "d"])
    (found,) = KAnonymity(k=3).find(stays, VARIABLES | {"patient": person}, "masked", "stays")
    assert (found.verdict, found.observed) == (Verdict.FAIL, 1)
    golden(found.says)
    assert one(KAnonymity(k=3), stays).verdict is Verdict.PASS
    (any_value,) = KAnonymity(k=3, missing_matches="any").find(stays, VARIABLES | {"patient": person}, "masked")
    assert any_value.observed == 1


def test_named_columns_replace_the_quasi_identifiers() -> None:
    frame = typed([30, 31, 32])
    assert one(KAnonymity(k=3, columns=("years_married",)), frame).observed == 3
    assert one(KAnonymity(k=3), frame).observed == 1
