"""The same data under the same documents are one release, and nothing that names a person is staged."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

from sluice.custody.states import State
from tasks.failure import StepFailed
from tasks.ingest import _secret as secret_of
from tasks.ingest import ingest, known_release, open_documents
from tasks.release.product import AnyRelease
from tasks.release.products import load_product
from tasks.release.run_notes import definition_of
from tests.flows.house import House
from tests.golden import golden

Bring = Callable[[House], AnyRelease]


def test_records_in_another_order_are_the_same_release(house: House, received: Bring) -> None:
    first = received(house)
    house.data = house.data.sample(frac=1, random_state=3)
    again = received(house)
    assert (again.id, again.data) == (first.id, first.data)
    house.data.loc[5, "income"] += 1000
    assert received(house).id != first.id


def test_identifiers_are_not_staged_and_keys_are_hashed(house: House, received: Bring) -> None:
    release = received(house)
    staged = pq.read_table(release.vault.verify(release.data.sha256, ".parquet")).to_pandas()
    assert "name" not in staged
    assert not set(staged["person"].astype(str)) & set(house.data["person"].astype(str))
    assert not set(staged["household"].astype(str)) & set(house.data["household"].astype(str))


def test_the_ledger_says_what_was_received_and_under_which_documents(house: House, received: Bring) -> None:
    release = received(house)
    (entry,) = release.entries()
    assert entry.event == State.RECEIVED
    assert {name: entry.body[name] for name in ("contract", "policy", "plan")} == release.product.hashes
    assert (entry.body["product"], entry.body["dataset"]) == ("records", "people")
    assert definition_of(release.product.workspace, release.id) == house.file


def test_the_ledger_tells_another_population_list_and_nothing_of_what_is_in_it(
    house: House, received: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(house.documents)
    house.policy["rules"].append({"rule": "k_map", "k": 2, "population": "everybody.csv"})
    found = []
    with pytest.raises(StepFailed) as refused:  # before a record is read
        received(house)
    golden.words(refused.value.detail)
    for content in ("age,sex,region\n40,f,north\n", "age,sex,region\n40,m,north\n"):
        (house.documents / "everybody.csv").write_text(content)
        found.append(received(house).entries()[-1].body["population"])
    assert len({each for (each,) in found}) == 2
    assert hashlib.sha256(content.encode()).hexdigest() not in str(found)


def test_a_plan_has_its_population_list_read_and_recorded_as_a_policy_has(
    house: House, received: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(house.documents)
    secret = house.root / "secret.csv"
    secret.write_text("sex,region\nf,geheim\n")
    step = {"method": "generalization", "columns": ["sex", "region"], "models": [{"model": "k_map", "k": 2}]}
    house.definition["plan"].append(step | {"population": str(secret)})
    with pytest.raises(StepFailed) as refused:  # not below the folders that may be read
        received(house)
    golden.words(refused.value.detail)
    rows = [f"{sex},{region},9999\n" for sex in ("f", "m") for region in ("north", "south")]
    (house.documents / "everybody.csv").write_text("sex,region,count\n" + "".join(rows))
    house.definition["plan"][-1]["population"] = "everybody.csv"
    release = received(house)
    assert len(release.entries()[-1].body["population"]) == 1
    (masked,) = [each for each in release.product.definition.plan if each.method == "generalization"]
    assert masked.fit(release.read_staged(), release.staged_variables)


def test_a_category_that_the_plan_has_no_place_for_is_refused_without_naming_it(house: House, received: Bring) -> None:
    house.definition["plan"][0]["columns"] = ["household"]
    recoding = {"method": "global_recoding", "columns": ["town"], "categories": {"inland": ["Aldby", "Borgen"]}}
    house.definition["plan"].append(recoding)
    with pytest.raises(StepFailed) as refused:
        received(house)
    golden.words(refused.value.detail)
    assert "Cresthill" not in refused.value.detail
    assert house.events()[-1] == "failed"


def test_a_known_release_is_gone_on_with_until_its_documents_change(house: House, received: Bring) -> None:
    release = received(house)
    assert known_release(release.product, None) is None
    found = known_release(release.product, release.id)
    assert found is not None
    assert (found.id, found.data) == (release.id, release.data)
    house.policy["rules"][0]["k"] = 6
    house.write()
    with pytest.raises(StepFailed) as refused:
        known_release(load_product(house.file, house.workspace()), release.id)
    golden.words(refused.value.detail)
    with patch("sluice.custody.ledger.Ledger.state", return_value=State.PUBLISHED), pytest.raises(StepFailed) as told:
        known_release(load_product(house.file, house.workspace()), release.id)
    golden.words(told.value.detail)


def test_a_wrong_document_is_refused_before_the_source_is_touched(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    house.policy["rules"] = [{"rule": "k_anonimity", "k": 5}]
    house.write()
    (house.documents / "people.csv").unlink()
    with pytest.raises(StepFailed) as refused:
        open_documents(str(house.file))
    assert "k_anonymity" in refused.value.detail


def test_a_source_that_is_gone_is_recorded_as_a_failure(house: House) -> None:
    (house.documents / "people.csv").unlink()
    with pytest.raises(StepFailed, match="ingest:"):
        ingest(load_product(house.file, house.workspace()))
    assert house.events() == ["failed"]


def test_a_secret_is_of_the_environment_or_of_a_block_where_there_is_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.blocks.system import Secret

    def load(name: str, _sync: bool) -> Secret[str]:
        if name != "house-password":
            raise ValueError("Unable to find block document")
        return Secret[str](value="swordfish-7193")

    monkeypatch.setattr(Secret, "load", load)
    monkeypatch.setenv("HOUSE_PASSWORD", "of the environment")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert secret_of("HOUSE_PASSWORD") == "of the environment"
    assert secret_of("block:house-password") is None  # nobody is asked
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert secret_of("block:house-password") == "swordfish-7193"
    assert secret_of("block:another") is None
