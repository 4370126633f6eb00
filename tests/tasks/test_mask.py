"""The masked file comes from the seed alone, in an order that only the seed tells."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sluice.custody.states import State
from tasks.record_steps import mask
from tasks.release.product import AnyRelease
from tasks.release.records.record_variables import read_masked, read_original
from tasks.release.records.stored_masked_file import kept_rows, row_order
from tests.flows.house import TOP, House

Bring = Callable[[House], AnyRelease]


def test_masked_again_it_has_the_same_bytes(house: House, validated: Bring) -> None:
    first = mask(validated(house))
    release = validated(house)
    again = mask(release)
    assert again.hashes == first.hashes
    assert release.state is State.MASKED
    assert release.entries()[-1].body == {
        "data": first.sha256,
        "csv": first.csv_sha256,
        "rows": first.rows,
        "sample": None,
        "seed": release.seed_name,
    }


def test_another_seed_makes_other_bytes(house: House, validated: Bring) -> None:
    first = mask(validated(house))
    house.data.loc[0, "income"] += 1000
    assert mask(validated(house)).sha256 != first.sha256


def test_only_the_order_of_the_seed_leads_back_to_the_original(house: House, validated: Bring) -> None:
    release = validated(house)
    masked = mask(release)
    original, published = read_original(release, release.original), read_masked(release, masked)
    order = row_order(release, kept_rows(release, masked))
    assert sorted(order) == list(range(len(original)))
    assert not np.array_equal(order, np.arange(len(original)))
    for name in ("sex", "region"):  # which the plan leaves as they are
        before = original[name].astype(str).to_numpy()
        assert np.array_equal(published[name].astype(str).to_numpy(), before[order])
        assert not np.array_equal(published[name].astype(str).to_numpy(), before)


def test_parquet_and_csv_hold_the_same_masked_table(house: House, validated: Bring) -> None:
    release = validated(house)
    masked = mask(release)
    csv = pd.read_csv(release.vault.verify(masked.csv_sha256, ".csv"))
    pd.testing.assert_frame_equal(read_masked(release, masked).astype(csv.dtypes), csv, check_dtype=False)
    assert csv["income"].max() == TOP
    assert list(csv) == ["age", "sex", "region", "income"]


def test_of_a_sample_the_vault_knows_who_is_in_it(house: House, validated: Bring) -> None:
    house.definition["plan"].append({"method": "sampling", "fraction": 0.5})
    release = validated(house)
    masked = mask(release)
    kept = kept_rows(release, masked)
    assert masked.sample is not None
    assert len(kept) == masked.rows == len(row_order(release, kept)) < release.original.rows
    assert (np.diff(kept) > 0).all()


def test_another_title_policy_or_owner_is_no_second_throw_of_the_dice(house: House, validated: Bring) -> None:
    first = validated(house)
    made = mask(first)
    house.definition |= {"name": "renamed", "title": "Another release", "owner": "mina"}
    house.policy["version"] = 2
    second = validated(house)
    assert second.id != first.id
    assert mask(second).hashes == made.hashes
    house.definition["plan"][-1]["window"] = 0.21
    assert mask(validated(house)).sha256 != made.sha256


@pytest.mark.parametrize("kept", [True, False])
def test_an_unchanged_record_keeps_its_noise_in_the_next_edition(house: House, validated: Bring, kept: bool) -> None:
    house.definition["plan"][-1] = {"method": "additive_noise", "columns": ["income"], "amount": 0.1}
    if not kept:
        house.definition["seed"] = "destroy"  # whoever has the vault could else make the noise again
    files = []
    for _ in range(2):
        release = validated(house)
        masked = mask(release)
        order = row_order(release, kept_rows(release, masked))
        file = read_masked(release, masked).set_index(order).sort_index()["income"]
        files.append(file.to_numpy())
        house.data.loc[0, "income"] += 1000
    assert (files[0] == files[1]).sum() == (len(house.data) - 1 if kept else 0)
