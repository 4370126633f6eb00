"""What an auditor finds years later: who did what, when, and the very documents and files that were meant."""

import hashlib
import json
from io import StringIO
from pathlib import Path

from rich.console import Console

from flows.cli.listing import show_history, show_releases
from flows.history import history
from policies.policy import load_policy
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import document_bytes, document_sha256
from sluice.ground.errors import SluiceError
from tests.flows.house import BLOCKED, DONE, ERROR, House
from tests.flows.stages import COMMENT
from tests.golden import golden


def screen(width: int = 80) -> tuple[Console, StringIO]:
    text = StringIO()
    return Console(file=text, width=width, highlight=False, markup=False), text


def test_who_approved_what_when_and_on_which_documents(published: House) -> None:
    told = published.sluice("ledger", "show", published.id, "--json").json
    assert told["state"] == "published"
    given = {event["actor"]: event["body"] for event in told["events"] if event["event"] == "decision"}
    assert set(given) == {"amara", "jonas"}
    assert given["amara"]["comment"] == COMMENT
    assert all(body["subject"] == told["approval_binds_to"] for body in given.values())

    files = {name: Path(path) for name, path in told["files"].items()}
    assert set(files) == {"contract", "policy", "plan", "report", "dossier", "data", "csv"}
    for path in files.values():  # as sha256sum does
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
    assert json.loads(files["policy"].read_bytes())["name"] == "test-policy"
    assert json.loads(files["plan"].read_bytes())["owner"] == "emil"
    salt = json.loads(files["dossier"].read_bytes())["salt"]
    plan = hashlib.sha256(f"{salt}\n{files['plan'].stem}".encode()).hexdigest()
    subject = {name: path.stem for name, path in files.items()} | {"plan": plan}
    digest = hashlib.sha256(json.dumps(subject, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    assert digest == told["approval_binds_to"]


def test_what_failed_before_it_was_a_release_is_not_called_one(tmp_path: Path) -> None:
    house = House(tmp_path / "house")
    (house.documents / "people.csv").unlink()
    assert house.release().code == ERROR
    told = house.sluice("review", house.definition["name"])
    assert told.code == ERROR
    golden(told.words)


def test_the_same_in_words_and_after_every_document_has_changed(published: House) -> None:
    published.policy["rules"][0]["k"] = 3
    published.definition["title"] = "Another"
    published.write()
    page = published.sluice("ledger", "show", published.id)
    assert page.code == DONE
    assert "amara (a name given; account" in page.words
    assert COMMENT in page.words
    review = published.sluice("review", published.id)
    assert review.code == DONE
    assert "changed since" in review.words
    assert "People and their incomes" in review.words


def test_a_review_names_the_plan_the_findings_and_who_has_approved(pending: House) -> None:
    pending.approve("amara")
    said = pending.sluice("review", pending.id).words
    for expected in (
        "by amara has decided; what, is told when all have,",
        "1 of 2 decisions",
        "1. The variables household, town are not released.",
        "PASS masked, k_anonymity:",
        "(reported) original, k_anonymity:",
        "by policy test-policy, version 1",
        "0 other releases of nearly the same data were judged before",
    ):
        assert expected in said
    assert said.index("PASS masked, k_anonymity") < said.index("(reported) original, k_anonymity")


def test_what_keeps_a_release_back_stands_first(house: House) -> None:
    house.definition["plan"] = [{"method": "removal", "columns": ["household", "town"]}]
    house.write()
    assert house.release().code == BLOCKED
    findings = house.sluice("review", house.id).words.split("What was found ")[1]
    assert not findings.startswith("PASS")


def test_an_unknown_id_is_refused_with_a_hint(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "home")
    workspace.ledger.append("survey-0123456789ab", "failed", "emil", {"step": "ingest", "error": "DataError"})
    golden.refused(SluiceError, history, workspace, "survey-0123456789aa")
    console, text = screen()
    show_history(console, history(workspace, "survey-0123456789ab"))
    golden.where("DataError", text.getvalue())


def test_ten_releases_fit_on_one_screen_and_no_id_is_broken() -> None:
    rows = [
        {
            "release": f"a-name-that-is-rather-long-{number:012d}",
            "state": "pending_review",
            "last_event": "decision",
            "at": "2026-11-21T05:54:00+00:00",
            "says": "Meets the policy: " + "many words " * 40,
        }
        for number in range(10)
    ]
    console, text = screen()
    show_releases(console, rows)
    lines = text.getvalue().splitlines()
    assert len(lines) == 20
    assert all(row["release"] in line for row, line in zip(rows, lines[::2], strict=True))
    assert all("pending review" in line and "2026-11-21 05:54  (decision)" in line for line in lines[::2])
    assert all(len(line) <= 80 and line.rstrip().endswith("…") for line in lines[1::2])


def test_the_kept_form_of_a_document_has_the_hash_that_the_ledger_names() -> None:
    policy = load_policy(Path(__file__).resolve().parents[2] / "policies" / "public-use-file.yaml")
    assert hashlib.sha256(document_bytes(policy)).hexdigest() == document_sha256(policy)


def test_a_release_of_which_nothing_is_known_has_no_review(house: House) -> None:
    told = house.sluice("review", "nothing-0123456789ab").refused(figures=True)
    assert "0123456789ab" in told.words
