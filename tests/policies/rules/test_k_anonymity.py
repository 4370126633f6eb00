"""k-anonymity as a rule."""

from sluice.ground.rule import Background
from sluice.ground.sentence import Statement, as_fields
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.k_anonymity import KAnonymity
from tests.golden import golden
from tests.policies.rules.married_women import VARIABLES, one, typed


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
