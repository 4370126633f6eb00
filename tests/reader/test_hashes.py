"""Who guesses what is confidential cannot have the guess confirmed by what a published folder says beside its data.

The reader has the whole folder, knows all documents, and runs Sluice in a house of its own on the records that it
supposes; the strongest guess is the truth. What its house makes would have the hashes that the folder tells, but for
a secret of the vault.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest

from sluice.report.dossier import Dossier
from sluice.report.report_page import render
from tasks.release.products import load_product
from tests.flows.house import WAITING, House
from tests.reader.play import MAGNITUDES
from tests.reader.reader_house import ReaderHouse

_HASH = re.compile(r"\b[0-9a-f]{64}\b")
# What differs between any two publications: hashes, keyed numbers of releases and offices, times, keys, signatures.
_OWN = re.compile(r"\b[0-9a-f]{12,64}\b|\d{4}-\d\d-\d\dT[\d:.+]+|SHA256:[\w+/]{43}|[\w+/=]{60,}")


def published(house: House) -> Path:
    """The folder of a release that two people approved."""
    house.release_approved()
    return house.target / house.id


def described(folder: Path) -> dict[str, str]:
    """Everything in a folder that describes the data, what is signed with it."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        found[path.name] = path.read_text(encoding="utf-8")
        envelope = json.loads(found[path.name])
        if "payload" in envelope:
            found[path.name] += base64.b64decode(envelope["payload"]).decode()
    return found


def hashes(folder: Path) -> set[str]:
    return set(_HASH.findall(" ".join(described(folder).values())))


def dossier_of(house: House) -> Dossier:
    """What a house says of its release, by its own vault."""
    judged = next(e for e in reversed(house.workspace().ledger.entries(house.id)) if "dossier" in e.body)
    path = house.workspace().vault.path(judged.body["dossier"], ".json")
    return Dossier.model_validate_json(path.read_bytes())


def guessed(house: House, folder: Path) -> Dossier:
    """The dossier of the public folder, if the records of this house are those behind it."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    told = {name: manifest[name] for name in ("release", "evaluated_at", "hashes", "versions")}
    return dossier_of(house).model_copy(update=told)


def sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def firms(alone: int) -> pd.DataFrame:
    """Turnover by branch; in each of three so few firms, whose turnover is the same however many they are."""
    rows = []
    small = {"a": 1000, "b": 1100, "c": 1200}
    for branch, total in (small | {"d": 90_000, "e": 95_000}).items():
        count = alone if branch in small else 8
        parts = [total - (count - 1) * (total // count), *[total // count] * (count - 1)]
        rows += [(branch, f"{branch}{number}", part) for number, part in enumerate(parts)]
    return pd.DataFrame(rows, columns=["branch", "firm", "value"])


def tables(root: Path, alone: int = 1) -> House:
    house = ReaderHouse(root, firms(alone), {"branch": None}, MAGNITUDES)
    house.definition["protection"] = {"method": "suppression", "a_priori": "wishes.csv"}
    wish = {"branch": "e", "status": "not_secondary", "lower": "", "upper": "", "cost": ""}
    pd.DataFrame([wish]).to_csv(house.documents / "wishes.csv", index=False)
    house.write()
    return house


def people(root: Path) -> House:
    return House(root)


@pytest.mark.parametrize("of", [tables, people])
def test_who_guesses_the_truth_is_not_told_that_it_is(of: Callable[[Path], House], tmp_path: Path) -> None:
    """Of tables the reader makes the same pattern, by far the cheapest; of records, say that it knew all figures."""
    ours, theirs = of(tmp_path / "ours"), of(tmp_path / "theirs")
    theirs.draws = "theirs"  # a reader's house has secrets of its own
    theirs.write()
    folder = published(ours)
    told, truth = hashes(folder), dossier_of(ours)
    assert sha256(truth.model_dump_json()) in told
    assert sha256(render(truth)) in told
    if of is tables:
        assert theirs.release().code == WAITING
    guess = guessed(theirs, folder) if of is tables else truth.model_copy(update={"salt": ""})
    assert sha256(guess.model_dump_json()) not in told
    assert sha256(render(guess)) not in told
    assert guess.model_copy(update={"salt": truth.salt}) == truth  # only that is between the reader and the truth
    assert len(truth.salt) == 32
    assert truth.salt not in " ".join(described(folder).values())


def test_who_guesses_the_definition_is_not_told_that_it_is(tmp_path: Path) -> None:
    house = tables(tmp_path / "house")
    folder = published(house)
    with patch.dict("os.environ", {"SLUICE_HOME": str(house.home)}):
        public = load_product(house.file, house.workspace()).hashes
    told = hashes(folder)
    assert public["plan"] not in told
    assert {public["contract"], public["policy"]} <= told  # which outsiders verify


def test_two_truths_with_the_same_tables_have_the_same_descriptions(tmp_path: Path) -> None:
    """One firm or two in each sensitive cell: nothing beside the tables tells the two apart."""
    folders = [published(tables(tmp_path / str(alone), alone)) for alone in (1, 2)]
    one, other = ({path.name: path.read_bytes() for path in folder.glob("*.csv")} for folder in folders)
    assert one == other
    assert any(b"suppressed" in content for content in one.values())

    def alike(folder: Path) -> dict[str, Any]:
        return {name: _OWN.sub("*", text) for name, text in described(folder).items()}

    assert alike(folders[0]) == alike(folders[1])
