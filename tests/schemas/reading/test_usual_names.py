"""What names of columns say of the role, in surveys and in many languages."""

import pytest

from schemas.reading.usual_names import (
    answered_role,
    are_ratings,
    ends_as_a_measure,
    is_a_scale,
    is_asked_as_an_opinion,
    is_called_a_code,
    is_called_a_count,
    is_called_a_measure,
    is_called_money,
    is_of_the_body,
    names_grades,
    role_by_module,
    stem_of,
    usual_role,
)
from sluice.ground.variables import Role


@pytest.mark.parametrize(
    ("names", "role"),
    [
        ("PWGTP WGTP finalwgt WTINT2YR pspwght V005 RB050 hhweight", Role.WEIGHT),
        ("RAC1P MAR CIT LANP RIAGENDR DMDMARTL RB090 PB190 PB220A MARSTAT V131 BPL MARST", Role.QUASI_IDENTIFIER),
        ("race ethnicity Familienstand staatsangehoerigkeit etnia raza ciudadania", Role.QUASI_IDENTIFIER),
        ("narodowosc medborgarskap kansalaisuus medeni_durum cetatenie пол", Role.QUASI_IDENTIFIER),
        ("PINCP DEYE INDFMPIR HY020 INCTOT smoker religiousness birthweight lwage", Role.SENSITIVE),
        ("Kosten Betrag gebühren Prämie montant frais gasto importe spesa importo", Role.SENSITIVE),
        ("kosten uitgaven huur koszt kwota pensja cost total_charges fee", Role.SENSITIVE),
        ("black nonwhite college minority female student siblings village", Role.QUASI_IDENTIFIER),
        ("parentesco dpto estrato upm verwandtschaft etudiant NUTS nuts2", Role.QUASI_IDENTIFIER),
        ("symptoms fever síntomas vacuna Schmerzen douleurs money stocks politics", Role.SENSITIVE),
        ("ponderador pondera factor_expansion waga", Role.WEIGHT),
        ("imputation_flag consent interviewer randomized", Role.OTHER),
        ("treatment_group study_arm control_group", Role.OTHER),
        ("main_source_of_income principal_revenu worked_for_pay number_of_persons residentes", Role.QUASI_IDENTIFIER),
        ("credit_history_age days_of_work_missed dias_sin_trabajar", Role.SENSITIVE),
        ("sep_mode discharge_disposition outcome vital_status alive hospital_expire_flag DISPUNIFORM", Role.SENSITIVE),
        ("Todesursache verstorben Entlassungsgrund décès mode_de_sortie tipo_alta exitus causa_muerte", Role.SENSITIVE),
        ("esito causa_di_morte doodsoorzaak óbito tryb_wypisu zgon dødsårsag kuolinsyy 死因", Role.SENSITIVE),
        ("date_of_death dod Sterbedatum age_at_death date_de_deces fecha_defuncion", Role.QUASI_IDENTIFIER),
        ("discharge_date admission_date", Role.QUASI_IDENTIFIER),
        ("SERIALNO DB030", Role.HOUSEHOLD),
        ("SEQN RB030 USUBJID DUPERSID student_id", Role.PERSON),
        ("relig REALINC earns disab DTHFL sbp lnwg sicklve family_planning ses", Role.SENSITIVE),
        ("edu eth AGEA GNDR SEXVAR RACETHX nodegree birthy location residence", Role.QUASI_IDENTIFIER),
        ("job_training pay_agreement ARMCD", Role.OTHER),
    ],
)  # fmt: skip
def test_names_of_surveys_and_languages(names: str, role: Role) -> None:
    assert {name: (usual_role(name) or ("",))[0] for name in names.split()} == dict.fromkeys(names.split(), role)


SILC = ["DB030", "RB030", "RB090"]


@pytest.mark.parametrize(
    ("name", "beside", "role"),
    [
        ("hy050n", SILC, Role.SENSITIVE), ("PY100G", SILC, Role.SENSITIVE), ("PY100G_F", SILC, Role.OTHER),
        ("HY050N", ["DB030", "age", "sex"], None), ("PY2020", SILC, None), ("happy", SILC, None),
        ("LBXGLU", ["SEQN", "RIAGENDR", "RIDAGEYR"], Role.SENSITIVE), ("LBXGLU", SILC, None),
        ("V384A", ["V012", "V024", "V025", "V106"], Role.SENSITIVE),
        ("V384", [*(f"V{n}" for n in range(1, 400))], None),
    ],
)  # fmt: skip
def test_a_module_of_a_survey_is_known_beside_other_names_of_it(
    name: str, beside: list[str], role: Role | None
) -> None:
    found = role_by_module(name, [*beside, name])
    assert (found and found[0]) == role


@pytest.mark.parametrize(
    ("name", "label", "money"),
    [
        ("insur", "$ value of employee insur", True), ("x", "Transfers received (net)", True), ("capital", "", True),
        ("x1", "in 1000 Euro", True), ("weight", "in kg", False), ("europe", "lives in Europe", False),
    ],
)  # fmt: skip
def test_amounts_of_money_are_known_by_their_currency(name: str, label: str, money: bool) -> None:
    assert is_called_money(name, label) is money


@pytest.mark.parametrize(
    "answers",
    [
        ["died", "transferred", "other"], ["Alive", "Dead"], ["Entlassen", "Verlegt", "Verstorben"],
        ["Discharged home", "Left against medical advice", "Died in hospital"], ["vivo", "fallecido"],
        ["décédé", "vivant"],
    ],
)  # fmt: skip
def test_answers_on_how_a_stay_or_a_life_ended_are_sensitive(answers: list[str]) -> None:
    assert answered_role(answers) == (Role.SENSITIVE, "outcome")


def test_answers_on_living_together_are_not() -> None:
    assert answered_role(["living together", "separated", "widowed", "transferred"]) == (
        Role.QUASI_IDENTIFIER,
        "marital status",
    )


def test_an_abbreviation_is_the_whole_name_or_none() -> None:
    assert usual_role("jan_feb_mar") is None
    assert usual_role("st_x") is None


def test_food_is_no_region() -> None:
    assert usual_role("FFQ - nuts and seeds") is None


def test_answers_on_a_scale_and_questions_of_opinion() -> None:
    assert are_ratings(["Never", "Rarely", "Often"])
    assert are_ratings(["1", "2", "Trifft überhaupt nicht zu", "Trifft völlig zu"])
    assert not are_ratings(["male", "female"])
    assert is_asked_as_an_opinion("How often do you see your family?")
    assert is_asked_as_an_opinion("Country: don't enjoy at all 1-2-3-4-5 enjoy very much")
    assert not is_asked_as_an_opinion("Country of birth")
    assert is_a_scale("from 0 to 10")
    assert is_called_a_measure("Systolic BP (mmHg)")
    assert not is_called_a_measure("Height (cm)")
    assert ends_as_a_measure("school_attendance_rate")
    assert not ends_as_a_measure("rate_marriage")


def test_between_two_ages_lies_no_scale() -> None:
    assert not is_a_scale("number of children for ages 0 to 5")
    assert not is_a_scale("young kids (0-5 yrs)")
    assert is_a_scale("happiness, 0 to 10 points")
    assert names_grades("not at all 1-2-3-4-5 very much")
    assert not names_grades("occupation, from 1 to 7")


@pytest.mark.parametrize(
    ("name", "role"),
    [("zipcode", Role.QUASI_IDENTIFIER), ("ZIP code", Role.QUASI_IDENTIFIER), ("zips", None),
     ("zipcodes", Role.QUASI_IDENTIFIER),
     ("birthdates", Role.QUASI_IDENTIFIER), ("incomes", Role.SENSITIVE), ("ages", None)],
)  # fmt: skip
def test_a_phrase_stands_in_a_name_whole_as_one_word_or_as_the_begin_of_one(name: str, role: Role | None) -> None:
    found = usual_role(name)
    assert (found and found[0]) == role


def test_of_several_words_the_longest_decides() -> None:
    assert usual_role("Are you the one who brings the main source of income?") == (
        Role.QUASI_IDENTIFIER, "main source of income"
    )  # fmt: skip
    assert usual_role("How was height measured?") == (Role.OTHER, "how was height measured")


def test_a_code_by_a_short_label_and_no_number_of_years() -> None:
    assert is_called_a_code("e30", "Relación de parentesco")
    assert not is_called_a_code("tenure_years")
    assert not is_called_a_code("tenure", "Years with the present employer")


def test_answers_to_one_question_share_a_stem() -> None:
    assert stem_of("instlevel1") == stem_of("instlevel12") != "instlevel1"
    assert stem_of("s7_13_01") == stem_of("s7_13_14") != stem_of("s7_14_01")
    assert [stem_of(name) for name in ("R0173600", "age", "V1")] == ["R0173600", "age", "V1"]


def test_codes_counts_and_weights_of_the_body() -> None:
    assert is_called_a_code("RAC1P")
    assert is_called_a_count("number_of_visits")
    assert is_called_a_count("v7", "Number of hospital stays")
    assert is_called_a_count("emergency", "Emergency room visits.")
    assert not is_called_a_count("v8", "Marital status of persons 15 years and over")
    assert not is_called_a_count("origin")
    assert is_of_the_body("BMXWT Weight (kg)")
    assert not is_of_the_body("final weight")
