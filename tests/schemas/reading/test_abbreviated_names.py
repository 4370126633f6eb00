"""What short names are short for, and which are not read so."""

import pytest

from schemas.reading.abbreviated_names import spelled_out
from schemas.reading.usual_names import role_of_words, ticked_role
from sluice.ground.variables import Role


@pytest.mark.parametrize(
    ("names", "role"),
    [
        ("lhrwage hrwage lothinc spsepay gdhlth mntlhlth fincome hwage finc25 hormon chemo meno", Role.SENSITIVE),
        ("yngkid bluecol marr oldkids gndr cntry husEmpl nwhite heducation meducation", Role.QUASI_IDENTIFIER),
        # no name is read from a part of it, nor by two letters, nor by one before three
        ("page stage package usage image seed wind mind learn hemp title status order rest cons gift", None),
    ],
)
def test_a_name_is_spelled_out_where_nothing_of_it_is_left(names: str, role: Role | None) -> None:
    found = {name: role_of_words(spelled_out(name)) for name in names.split()}
    assert {name: each and each[0] for name, each in found.items()} == dict.fromkeys(names.split(), role)


@pytest.mark.parametrize(
    ("name", "label", "role"),
    [
        ("prot", "=1 if Protestant", Role.SENSITIVE),
        ("x", "1 if married, spouse present", Role.QUASI_IDENTIFIER),
        ("x", "area== rural", Role.QUASI_IDENTIFIER),
        ("x", "dummy variable for urban", Role.QUASI_IDENTIFIER),
        ("nevermarried", "", Role.QUASI_IDENTIFIER),
        ("x", "=1 if applied", None),
        ("x", "married before the interview", None),  # no statement that is ticked
        ("m", "", None),  # a letter may be anything
    ],
)  # fmt: skip
def test_what_a_ticked_column_states_says_what_it_is_of(name: str, label: str, role: Role | None) -> None:
    found = ticked_role(name, label)
    assert (found and found[0]) == role
