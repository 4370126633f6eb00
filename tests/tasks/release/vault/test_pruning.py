"""Pruning: what is due goes, in the ledger first; what anybody needs stays, whoever would have it gone."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sluice.custody.ledger import Ledger
from sluice.custody.states import PRUNED, SEED_DESTROYED, VAULT, State
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.release.vault.vault_inventory import Holding
from tasks.release.vault.vault_retention import Inventory, Keeping, Pruning, _Rules, prune
from tests.flows.clocks import in_days
from tests.flows.house import BLOCKED, DONE, WAITING, House
from tests.flows.stages import stages
from tests.flows.tables_house import TablesHouse
from tests.golden import golden

DAYS = {"staged_data": 60, "masked_files": 90, "seeds": 120}
NAME = "people.parquet"


class RetainingHouse(House):
    """A house whose policy says how long everything is kept."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.policy["retention"] = {"published": dict(DAYS), "unpublished": dict.fromkeys(DAYS, 30)}
        self.write()


class RetainingTablesHouse(TablesHouse):
    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.policy["retention"] = {"published": dict(DAYS)}
        self.write()


@pytest.fixture
def published() -> RetainingHouse:
    return stages(RetainingHouse).at("published")


@pytest.fixture
def pending() -> RetainingHouse:
    return stages(RetainingHouse).at("pending")


def after(house: House, days: float, dry_run: bool = False) -> Pruning:
    return prune(house.workspace(), datetime.now(UTC) + timedelta(days=days), dry_run)


def parts(pruning: Pruning) -> list[str | None]:
    return [each.part for each in pruning.deletions]


def objects(house: House) -> set[str]:
    return {path.name for path in (house.home / "vault" / "objects").iterdir()}


def test_each_part_goes_when_its_days_are_over_and_not_before(published: RetainingHouse) -> None:
    before = objects(published)
    assert parts(after(published, 59)) == []
    assert objects(published) == before
    assert parts(after(published, 61, dry_run=True)) == ["staged_data"]
    assert objects(published) == before
    (gone,) = after(published, 61).deletions
    assert before - objects(published) == {*gone.objects}
    assert after(published, 62).deletions == ()
    assert parts(after(published, 91)) == ["masked_files"]
    assert parts(after(published, 121)) == ["seeds"]
    assert published.events(published.id)[-3:] == [PRUNED, PRUNED, SEED_DESTROYED]
    assert published.sluice("ledger", "verify").code == DONE, "what was published, and why, is all there"
    assert published.sluice("review", published.id).code == DONE
    assert published.sluice("ledger", "show", published.id).code == DONE


def test_what_waits_is_kept_however_long_it_waits(pending: RetainingHouse) -> None:
    assert after(pending, 20_000).deletions == ()
    pending.approve_as_both()


def test_what_was_refused_has_days_of_its_own_which_no_deletion_prolongs(pending: RetainingHouse) -> None:
    pending.sluice("reject", pending.id, "--as", "emil", "--comment", "no more needed")
    assert after(pending, 29).deletions == ()
    with (
        patch("tasks.release.vault.vault_retention.discard", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        after(pending, 31)
    assert sorted(map(str, parts(after(pending, 31)))) == sorted(DAYS)
    assert not [name for name in objects(pending) if name.endswith((".parquet", ".csv"))]


def test_without_a_rule_everything_is_kept_for_ever() -> None:
    assert after(stages(House).at("published"), 30_000).deletions == ()


def test_data_that_another_release_needs_stay_until_it_needs_them_no_more(published: RetainingHouse) -> None:
    """The same data under another title wait for their reviewers: objects and seed are shared."""
    published.definition["title"] = "The same once more"
    published.write()
    assert published.release().code == WAITING
    first, second = published.ids
    assert after(published, 5000).deletions == ()
    assert f"shared with {first}" in published.sluice("vault", "ls").out
    published.sluice("reject", second, "--as", "emil", "--comment", "published already")
    done = after(published, 5000)
    assert {each.release for each in done.deletions if each.part == "staged_data"} == {first, second}


@pytest.mark.parametrize(
    ("held", "searched", "due"),
    [
        ([], {NAME: None}, False),
        ([], {NAME: 1}, False),
        ([], {NAME: 0}, True),
        ([0], {}, True),
        ([0], {NAME: 1}, False),  # a release and a search read the same records
        ([0], {NAME: None}, False),
        ([0], {NAME: 0}, True),
        ([0, 1], {NAME: 0}, False),
        ([0, None], {NAME: 0}, False),
        ([], {}, False),
    ],
)
def test_what_a_search_read_stays_until_no_release_and_no_search_needs_it(
    held: list[int | None], searched: dict[str, int | None], due: bool
) -> None:
    """By the days that are left to each; None: for ever."""
    now = datetime.now(UTC)

    def until(days: int | None) -> datetime | None:
        return None if days is None else now + timedelta(days=days)

    of = Holding("people-puf", State.PUBLISHED, "staged_data", (NAME,))
    keepings = [Keeping(of, until(days), "") for days in held]
    reads = {read: until(days) for read, days in searched.items()}
    assert Inventory(now, {}, {}, frozenset(), keepings, reads, {}, {}).is_due(NAME) is due


def test_a_run_that_was_killed_is_finished_by_the_next(published: RetainingHouse) -> None:
    before = objects(published)
    with (
        patch("tasks.release.vault.vault_retention.discard", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        after(published, 61)
    assert objects(published) == before
    assert published.events(published.id)[-1] == PRUNED, "recorded before anything is deleted"
    (gone,) = after(published, 61).deletions
    assert before - objects(published) == {*gone.objects}


def test_what_an_old_backup_brings_back_is_seen_and_goes_again(published: RetainingHouse) -> None:
    vault = published.home / "vault"
    saved = shutil.copytree(vault, published.root / "backup")
    after(published, 130)
    for folder in ("objects", "seeds"):
        shutil.rmtree(vault / folder)
        shutil.copytree(saved / folder, vault / folder)
    published.sluice("vault", "ls").refused()
    assert parts(after(published, 0)) == ["seeds"], "a seed that was destroyed is nobody's any more"
    assert parts(after(published, 130)) == ["staged_data", "masked_files"]


def test_the_same_data_kept_again_meanwhile_stay(published: RetainingHouse) -> None:
    from tasks.release.vault import vault_retention

    name = next(name for name in objects(published) if name.endswith(".parquet"))
    path = published.home / "vault" / "objects" / name
    record = vault_retention._record

    def arrive(workspace: Any, each: Any) -> None:
        record(workspace, each)
        workspace.vault.keep_bytes(path.read_bytes(), ".parquet")

    with patch("tasks.release.vault.vault_retention._record", arrive):
        done = after(published, 130)
    assert f"{name} was kept again meanwhile" in done.kept
    assert name in objects(published)


def test_a_submitters_own_policy_deletes_nothing(published: RetainingHouse) -> None:
    """A rehearsal is judged by any policy: what was tried, and how often, stays known."""
    published.policy |= {"name": "mine", "retention": {"unpublished": dict.fromkeys(DAYS, 30)}}
    published.new_edition()
    assert published.sluice("check", str(published.file)).code in (DONE, BLOCKED)
    rehearsed = published.id
    assert rehearsed not in {each.release for each in after(published, 5000).deletions}


def test_a_shorter_rule_deletes_nothing_earlier_and_one_without_stops_it(published: RetainingHouse) -> None:
    published.policy |= {"version": 2, "retention": {"published": dict.fromkeys(DAYS, 30)}}
    published.write()
    published.adopt()
    assert parts(after(published, 59)) == []
    assert parts(after(published, 61)) == ["staged_data"]
    del published.policy["retention"]
    published.policy["version"] = 3
    published.write()
    published.adopt()
    assert after(published, 20_000).deletions == ()


def test_nothing_is_deleted_by_a_ledger_that_was_cut_off(published: RetainingHouse) -> None:
    """It would not know of what was kept since, and call it stray."""
    ledger = published.home / "ledger.db"
    old = ledger.read_bytes()
    published.sluice("withdraw", published.id, "--reason", "it was wrong", "--as", "amara")
    ledger.write_bytes(old)
    before = objects(published)
    golden.refused(SluiceError, after, published, 20_000)
    assert objects(published) == before


def test_nothing_is_deleted_by_a_clock_that_is_ahead(tmp_path: Path) -> None:
    """By one that is years ahead everything would be due."""
    workspace = Workspace.open(tmp_path / "home")
    stray = workspace.vault.path(workspace.vault.keep_bytes(b"of a run that was killed", ".csv"), ".csv")
    os.utime(stray, (0, 0))
    there = datetime.now(UTC) - timedelta(days=400)
    with patch.object(Ledger, "database_clock", return_value=there), golden.raises(SluiceError, figures=False):
        prune(workspace)
    assert stray.exists()
    assert prune(workspace).deletions
    assert not stray.exists()


def test_what_somebody_took_is_told_from_what_was_deleted_by_rule(published: RetainingHouse) -> None:
    after(published, 61)
    assert published.sluice("vault", "ls").code == DONE
    workspace = published.workspace()
    masked = next(e for e in workspace.ledger.entries(published.id) if e.event == "masked")
    (workspace.vault.objects / f"{masked.body['data']}.parquet").unlink()
    published.sluice("ledger", "verify").refused(figures=True)
    judged = next(e for e in workspace.ledger.entries(published.id) if e.event == "evaluated")
    (workspace.vault.objects / f"{judged.body['dossier']}.json").unlink()
    golden(published.sluice("ledger", "verify").words)
    received = next(e for e in workspace.ledger.entries(published.id) if e.event == "received")
    (workspace.vault.objects / f"{received.body['policy']}.json").unlink()
    golden.words(published.sluice("vault", "ls").words)
    assert after(published, 20_000).deletions == (), "without its policy there is no rule to delete by"


def test_a_policy_of_another_version_says_still_how_long_what_it_judged_is_kept(tmp_path: Path) -> None:
    vault = Workspace.open(tmp_path / "home").vault
    written = {"name": "office", "version": "3", "of_another_sluice": 1, "retention": {"published": {"seeds": 120}}}
    kept = vault.keep_bytes(json.dumps(written).encode(), ".json")
    found = _Rules(Workspace.open(tmp_path / "home"), None, ())._read(kept)
    assert found is not None
    assert found.retention is not None
    assert (found.name, found.retention.days(True, "seeds")) == ("office", 120)
    wrong = vault.keep_bytes(json.dumps(written | {"retention": {"published": {"seeds": 1}}}).encode(), ".json")
    assert _Rules(Workspace.open(tmp_path / "home"), None, ())._read(wrong) is None


def test_nothing_is_deleted_through_a_link(published: RetainingHouse, tmp_path: Path) -> None:
    path = next((published.home / "vault" / "objects").glob("*.parquet"))
    elsewhere = path.rename(tmp_path / "elsewhere")
    path.symlink_to(elsewhere)
    done = after(published, 130)
    assert f"{path.name} is a link or no file" in " ".join(done.kept)
    assert path.is_symlink()
    assert elsewhere.is_file()


def test_what_the_ledger_does_not_know_goes_in_time(published: RetainingHouse) -> None:
    """The records that a run had kept when it was killed."""
    stray = f"{published.workspace().vault.keep_bytes(b'records', '.parquet')}.parquet"
    assert parts(after(published, 29)) == []
    (gone,) = after(published, 31).deletions
    assert (gone.release, gone.objects) == ("", (stray,))
    assert [entry.event for entry in published.workspace().ledger.entries(VAULT)] == [PRUNED]
    assert stray not in objects(published)


def test_a_later_release_of_the_same_people_needs_a_decision(published: RetainingHouse) -> None:
    first = published.id
    after(published, 130)
    published.data.loc[0, "income"] += 1
    published.write()
    told = published.release()
    assert told.code == WAITING
    findings = {f["rule"]: f for f in published.sluice("review", published.id, "--json").json["findings"]}
    assert findings["pruned_publications"]["verdict"] in (1, "REVIEW")
    assert findings["pruned_publications"]["scope"] == first
    assert "UNKNOWN" not in {f["verdict"] for f in findings.values()}
    assert "1 " in str(published.sluice("review", published.id, "--json").json["earlier_attempts"])


def test_of_tables_the_sums_the_files_and_the_proofs_go(tmp_path: Path) -> None:
    house = stages(RetainingTablesHouse).at("published")
    done = after(house, 100)
    assert parts(done) == ["staged_data", "masked_files"]
    assert {name.rpartition(".")[2] for name in objects(house)} == {"json", "html"}, "documents, report and dossier"
    assert house.sluice("ledger", "verify").code == DONE
    first = house.id
    house.data.loc[0, "turnover"] += 1000
    house.write()
    assert house.release().code == WAITING
    findings = {f["rule"]: f for f in house.sluice("review", house.id, "--json").json["findings"]}
    assert findings["pruned_publications"]["scope"] == first
    assert "UNKNOWN" not in {f["verdict"] for f in findings.values()}


def test_the_command_says_what_it_deletes(published: RetainingHouse) -> None:
    listed = published.sluice("vault", "ls", "--json").json
    assert {row["part"]: row["due"] for row in listed["holdings"]} == dict.fromkeys(DAYS, False)
    assert listed["size"] > 0
    assert all("test-policy" in row["says"] for row in listed["holdings"])
    golden.words(published.sluice("vault", "prune").words)
    with patch("tasks.release.vault.vault_retention.datetime", in_days(100)):
        told = published.sluice("vault", "prune", "--dry-run")
        golden(told.words)
        assert str(published.id) in told.words
        done = published.sluice("vault", "prune", "--json").json
    assert [each["part"] for each in done["deletions"]] == ["staged_data", "masked_files"]
    listed = published.sluice("vault", "ls")
    assert "deleted " in listed.words
    assert f"{published.id}  published" in listed.out, "to be copied, whatever the width of the screen"
