"""What names of columns say of the role, in surveys and in many languages."""

import pytest

from schemas.reading.usual_names import is_called_a_code, is_called_a_count, is_of_the_body, usual_role
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
        ("black nonwhite college minority", Role.QUASI_IDENTIFIER),
        ("SERIALNO DB030", Role.HOUSEHOLD),
        ("SEQN RB030", Role.PERSON),
    ],
)  # fmt: skip
def test_names_of_surveys_and_languages(names: str, role: Role) -> None:
    assert {name: (usual_role(name) or ("",))[0] for name in names.split()} == dict.fromkeys(names.split(), role)


def test_an_abbreviation_is_the_whole_name_or_none() -> None:
    assert usual_role("jan_feb_mar") is None
    assert usual_role("st_x") is None


def test_codes_counts_and_weights_of_the_body() -> None:
    assert is_called_a_code("RAC1P")
    assert is_called_a_count("number_of_visits")
    assert is_called_a_count("v7", "Number of hospital stays")
    assert is_called_a_count("emergency", "Emergency room visits.")
    assert not is_called_a_count("v8", "Marital status of persons 15 years and over")
    assert not is_called_a_count("origin")
    assert is_of_the_body("BMXWT Weight (kg)")
    assert not is_of_the_body("final weight")
