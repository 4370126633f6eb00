"""A release and its seed: drawn once, and in no other vault a second time."""

from collections.abc import Callable

from sluice.ground.errors import DataError
from tasks.record_steps import mask
from tasks.release.product import AnyRelease
from tests.flows.house import House
from tests.golden import golden

Bring = Callable[[House], AnyRelease]


def test_a_vault_that_is_older_than_its_ledger_draws_no_second_seed(house: House, validated: Bring) -> None:
    """Who puts an old vault back would have other dice, and earlier files would be held beside other people."""
    release = validated(house)
    mask(release)
    seed = release.vault.root / "seeds" / release.seed_name
    kept = seed.read_bytes()
    seed.unlink()
    golden.refused(DataError, release.seeds)
    house.definition["title"] = "The same plan under another name"
    other = validated(house)
    assert (other.id != release.id, other.seed_name) == (True, release.seed_name)
    golden.refused(DataError, other.seeds)
    assert not seed.exists()
    seed.write_bytes(kept)
    seed.chmod(0o600)
    assert other.seeds()
