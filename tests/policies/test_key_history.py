"""Which keys counted when: old decisions stay verifiable by the keys of then, and no key counts outside of its time."""

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.adoption import read_office
from policies.key_history import key_history
from policies.people import Roster
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.allowed_signers import AllowedSigner, parse_allowed_signers
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_key
from tests.policies.signed_acts import BEGAN, PEOPLE, act, adopts_roster, founding, key_line, later, private_key, roster

FOUNDED = later(days=-1)
WITHOUT_MINA = roster({name: roles for name, roles in PEOPLE.items() if name != "mina"})


def change(brought: Roster, at: datetime, *who: str) -> list[Entry]:
    """Two people adopt a roster, the second a minute after the first."""
    people = who or ("amara", "jonas")
    adoption = adopts_roster(brought)
    return [act(each, adoption, at=at + timedelta(minutes=n - 1), brought=brought) for n, each in enumerate(people)]


def history(*entries: Entry, first: Roster | None = None) -> list[AllowedSigner]:
    office = read_office([replace(each, seq=row) for row, each in enumerate([founding(first), *entries], 1)])
    assert not office.void
    return key_history(office.rosters)


def spans(signers: list[AllowedSigner], name: str) -> list[tuple[datetime | None, datetime | None]]:
    return [(each.after, each.before) for each in signers if each.names == (name,)]


def test_a_key_begins_and_ends_with_the_adoptions_that_brought_it_and_took_it_off() -> None:
    found = history(*change(WITHOUT_MINA, BEGAN), *change(roster(), later(days=9)))
    assert spans(found, "mina") == [(FOUNDED, BEGAN), (later(days=9), None)]
    assert spans(found, "amara") == [(FOUNDED, None)]  # in one piece: it was never off


def test_a_key_that_was_replaced_ends_and_the_new_one_begins() -> None:
    replaced = roster(mina={"keys": [key_line("mina's second")]})
    old, new = (each for each in history(*change(replaced, BEGAN)) if each.names == ("mina",))
    assert (old.key.line, old.after, old.before) == (key_line("mina"), FOUNDED, BEGAN)
    assert (new.key.line, new.after, new.before) == (key_line("mina's second"), BEGAN, None)


def test_a_key_that_went_to_another_person_is_each_one_s_for_its_time() -> None:
    found = history(*change(roster(mina={"keys": []}, noor={"keys": [key_line("mina")]}), BEGAN))
    of_key = [(each.names, each.after, each.before) for each in found if each.key.line == key_line("mina")]
    assert of_key == [(("mina",), FOUNDED, BEGAN), (("noor",), BEGAN, None)]


def test_what_one_person_proposed_ends_nothing() -> None:
    assert spans(history(*change(WITHOUT_MINA, BEGAN, "amara")), "mina") == [(FOUNDED, None)]


def test_the_days_of_a_person_count_within_each_roster_that_names_them() -> None:
    until, first, last = later(days=30).date(), datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    before = roster(mina={"valid_from": "2026-02-01", "valid_until": str(until)})
    assert spans(history(first=before), "mina") == [(FOUNDED, datetime(2026, 4, 1, tzinfo=UTC))]
    longer = roster(mina={"valid_from": "2026-02-01", "valid_until": "2026-12-31"})
    found = history(*change(longer, BEGAN), first=before)
    assert spans(found, "mina") == [(FOUNDED, datetime(2027, 1, 1, tzinfo=UTC))]
    assert first < FOUNDED < last
    later_on = roster(mina={"valid_from": "2026-06-01"})
    assert spans(history(first=later_on), "mina") == [(datetime(2026, 6, 1, tzinfo=UTC), None)]
    never = roster(mina={"valid_until": "2026-01-31"})
    assert spans(history(first=never), "mina") == []


CHANGES = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(["mina", "noor"]), st.sampled_from(["a", "b", "c"]), max_size=2).filter(
            lambda keys: len({*keys.values()}) == len(keys)
        ),
        st.sampled_from([None, "2026-03-03", "2026-03-20"]),
    ),
    max_size=5,
)


@given(changes=CHANGES, hours=st.integers(-48, 24 * 40))
def test_at_any_time_exactly_the_keys_of_the_roster_of_that_time_count(
    changes: list[tuple[dict[str, str], str | None]], hours: int
) -> None:
    rosters = [(FOUNDED, roster())]
    for week, (keys, until) in enumerate(changes):
        more: dict[str, Any] = {
            name: {"keys": [key_line(key)], "valid_until": until and str(until)} for name, key in keys.items()
        }
        rosters.append((later(days=7 * week), roster(**more)))
    at = later(hours=hours)
    held = {(each.names, each.key) for each in key_history(rosters) if each.holds(at)}
    in_force = [each for since, each in rosters if since <= at][-1:]
    assert held == {
        ((name,), key)
        for each in in_force
        for name, person in each.people.items()
        if person.counts(at)
        for key in person.public_keys
    }


def test_the_lines_are_read_back_and_lose_no_signature_of_the_same_second() -> None:
    moment = BEGAN + timedelta(microseconds=500)
    ended = AllowedSigner(("mina",), PublicKey.parse(key_line("mina")), FOUNDED + timedelta(microseconds=7), moment)
    (read,) = parse_allowed_signers([ended.line], "keys")
    assert read.holds(moment - timedelta(microseconds=1))
    assert read.holds(FOUNDED + timedelta(microseconds=7))
    assert not read.holds(moment + timedelta(seconds=1))


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_openssh_reads_the_same_times(tmp_path: Path) -> None:
    """A key that was off the roster for nine days: two lines of one key, and OpenSSH takes whichever holds."""
    found = history(*change(WITHOUT_MINA, BEGAN), *change(roster(), later(days=9)))
    (tmp_path / "keys").write_text("".join(f"{each.line}\n" for each in found))
    (tmp_path / "signature").write_text(signed_by_key(b"agreed", private_key("mina")))
    for at in (later(days=-2), later(hours=-2), later(days=1), later(days=10)):
        command = ["ssh-keygen", "-Y", "verify", "-f", "keys", "-I", "mina", "-n", "sluice", "-s", "signature"]
        time = f"verify-time={at.astimezone():%Y%m%d%H%M%S}"
        run = subprocess.run([*command, "-O", time], input=b"agreed", cwd=tmp_path, capture_output=True, check=False)
        assert (run.returncode == 0) == any(each.holds(at) for each in found if each.names == ("mina",)), run.stderr
