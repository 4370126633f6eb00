"""A house with confidential records: the documents, the data, the workspace and the shelf of one test release.

The documents are plain dictionaries: a test changes what it is about, and `write` puts them on the disk.
"""

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import yaml

from sluice.custody.states import OFFICE
from sluice.documents.document_reading import document_sha256
from sluice.ground.errors import SluiceError
from tests import parsed_once  # noqa: F401
from tests.golden import golden
from tests.steady_draws import make_steady

RECORDS = 1200
TOP = 100_000  # incomes above it are top-coded

DONE, ERROR, BLOCKED, WAITING, UNCHECKED = 0, 1, 2, 3, 4


def survey(records: int = RECORDS, seed: int = 1) -> pd.DataFrame:
    """People and their incomes, drawn at random: about three to a household, each household in one region."""
    rng = np.random.default_rng(seed)
    households = rng.integers(0, max(records // 3, 1), records)
    return pd.DataFrame(
        {
            "person": np.arange(1, records + 1),
            "name": [f"Person {number:05d}" for number in range(1, records + 1)],
            "household": households,
            "age": rng.integers(18, 80, records),
            "sex": rng.choice(["f", "m"], records),
            "region": np.array(["north", "south"])[households % 2],
            "town": rng.choice(["Aldby", "Borgen", "Cresthill"], records),
            "income": np.round(rng.lognormal(10.2, 0.5, records), -3),
        }
    )


def contract() -> dict[str, Any]:
    return {
        "dataset": "people",
        "version": 1,
        "records_are": "people",
        "record_key": ["person"],
        "rows": {"minimum": 100, "maximum": 100_000},
        "editions": "fresh_samples",
        "variables": [
            {"name": "person", "kind": "integer", "role": "identifier"},
            {"name": "name", "kind": "text", "role": "identifier"},
            {"name": "household", "kind": "integer", "role": "household"},
            {"name": "age", "kind": "integer", "role": "quasi_identifier", "minimum": 18, "maximum": 99},
            {"name": "sex", "kind": "binary", "role": "quasi_identifier", "categories": ["f", "m"]},
            {"name": "region", "kind": "nominal", "role": "quasi_identifier", "categories": ["north", "south"]},
            {"name": "town", "kind": "nominal", "role": "sensitive"},
            {"name": "income", "kind": "continuous", "role": "sensitive", "minimum": 0},
        ],
    }


def policy() -> dict[str, Any]:
    return {
        "name": "test-policy",
        "version": 1,
        "rules": [{"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2, "columns": ["income"]}],
        "reference_standard": {
            "reference": "leave_one_out",
            "margin": 0.1,
            "copies_excess": 0.1,
            "minimum_records": 1000,
            "tail_share": 0.05,
            "learned": {"found": 0.3, "claims": 0.03},  # of 200 households not even none may be shown to be 2 %
        },
        "approvals": {"count": 2, "roles": ["methodologist", "data_steward"], "valid_days": 30, "identity": "declared"},
    }


def people() -> dict[str, Any]:
    return {
        "identity": "declared",
        "people": {
            "amara": {"roles": ["methodologist", "head"], "account": "amara"},
            "jonas": {"roles": ["data_steward", "owner"], "account": "jonas"},
            "mina": {"roles": ["methodologist"], "account": "mina"},
            "emil": {"roles": ["methodologist", "data_steward"], "account": "emil"},
        },
    }


def definition() -> dict[str, Any]:
    return {
        "name": "people-puf",
        "title": "People and their incomes",
        "owner": "emil",
        "source": {"type": "csv", "path": "people.csv"},
        "contract": "contract.yaml",
        "policy": "policy.yaml",
        "plan": [
            {"method": "removal", "columns": ["household", "town"]},
            {"method": "global_recoding", "columns": ["age"], "bins": [40, 60]},
            {"method": "top_bottom_coding", "columns": ["income"], "top": {"value": TOP}},
            {"method": "rank_swapping", "columns": ["income"], "window": 0.2},
        ],
        "target": "../published",
    }


@dataclass(frozen=True)
class Told:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def words(self) -> str:
        """Both streams on one line, as a terminal's width breaks lines anywhere."""
        return " ".join(f"{self.out} {self.err}".split())

    def refused(self, figures: bool = False) -> "Told":
        """It is an error, whose words are those of the golden file; without `figures`, they stand as # there."""
        __tracebackhide__ = True
        assert self.code == ERROR, self.words
        (golden if figures else golden.words)(self.words)
        return self


def run_here(*arguments: str) -> Told:
    """What a command of Sluice answers that runs in this process."""
    from flows.cli.main import main

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(arguments))
    return Told(code, out.getvalue(), err.getvalue())


def answered(arguments: Sequence[str], code: int = DONE) -> Told:
    """The same of one that ends with this code."""
    __tracebackhide__ = True
    answer = run_here(*arguments)
    assert answer.code == code, answer.words
    return answer


def is_in_force(workspace: Any, path: Path) -> bool:
    """Whether the office has adopted what this file holds."""
    from tasks.release.decisions.office import open_office, read_document

    office = open_office(workspace)
    sha256 = document_sha256(read_document(path)[1])
    return office is not None and any(held.adoption.sha256 == sha256 for held in office.in_force.values())


def _is_sound(path: Path) -> bool:
    from tasks.release.decisions.office import read_document

    try:
        read_document(path)
    except SluiceError:
        return False
    return True


def _adopt(workspace: Any, paths: list[Path], person: str) -> None:
    """One act for all of them, or one for each where together they would not count."""
    from tasks.release.decisions.office import Terms, adopt
    from tasks.release.decisions.signing_in import Credentials

    if paths:
        try:
            adopt(workspace, paths, Terms(), Credentials(declared=person), "")
        except SluiceError:
            for path in paths:
                with suppress(SluiceError):
                    adopt(workspace, [path], Terms(), Credentials(declared=person), "")


class House:
    adopts = True  # whether its documents are adopted before each release
    draws = "1"  # the series of secrets and seeds of its vault

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = survey()
        self.contract, self.policy, self.people, self.definition = contract(), policy(), people(), definition()
        self.write()

    @property
    def documents(self) -> Path:
        return self.root / "documents"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def target(self) -> Path:
        return self.root / "published"

    @property
    def file(self) -> Path:
        """The release definition."""
        return self.documents / "release.yaml"

    def write(self) -> None:
        """Bring the documents and the data to the disk."""
        self.documents.mkdir(parents=True, exist_ok=True)
        for name, content in (
            ("contract.yaml", self.contract),
            ("policy.yaml", self.policy),
            ("people.yaml", self.people),
            ("release.yaml", self.definition),
        ):
            (self.documents / name).write_text(
                yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8"
            )
        make_steady(self.root, self.draws)
        self.data.to_csv(self.documents / "people.csv", index=False)

    def new_edition(self, seed: int = 2) -> None:
        """Other people's records under the same documents."""
        self.data = survey(seed=seed)
        self.write()

    def variable(self, name: str) -> dict[str, Any]:
        """The contract's entry for a variable, to be changed in place."""
        return next(entry for entry in self.contract["variables"] if entry["name"] == name)

    def sluice(self, *arguments: str) -> Told:
        """Run a command of Sluice in this process; before a release, its documents are adopted."""
        if arguments[0] == "release" and self.adopts:
            self.adopt()
        umask = os.umask(0o022)
        os.umask(umask)
        with patch.dict(os.environ, {"SLUICE_HOME": str(self.home), "COLUMNS": "200"}):
            answer = run_here(*arguments)
        os.umask(umask)  # the command's own process would end here
        return answer

    def adopt(self) -> None:
        """Let the documents count, as far as they are sound and do not yet, by two people of the office."""
        from sluice.custody.workspace import open_workspace

        with patch.dict(os.environ, {"SLUICE_HOME": str(self.home)}), suppress(SluiceError):
            workspace = open_workspace()  # if it cannot be opened, the command says so itself
            for names in (("people.yaml",), ("contract.yaml", "policy.yaml")):  # the roster says who may adopt others
                sound = [self.documents / name for name in names if _is_sound(self.documents / name)]
                for person in ("amara", "jonas"):
                    _adopt(workspace, [path for path in sound if not is_in_force(workspace, path)], person)

    def release(self) -> Told:
        return self.sluice("release", str(self.file))

    def approve(self, who: str) -> Told:
        return self.sluice("approve", self.id, "--as", who)

    def approve_as_both(self) -> None:
        """The latest release is published by the second of two people who approve it."""
        __tracebackhide__ = True
        release = self.id
        for who, code in (("amara", WAITING), ("jonas", DONE)):
            told = self.sluice("approve", release, "--as", who)
            assert told.code == code, told.words

    def release_approved(self) -> None:
        """Publish what the documents and the data now are."""
        __tracebackhide__ = True
        told = self.release()
        assert told.code == WAITING, told.words
        self.approve_as_both()

    def withdraw(self, release: str, reason: str, *options: str) -> Told:
        """What the second of two people is told who ask for it."""
        self.sluice("withdraw", release, "--reason", reason, "--as", "amara")
        return self.sluice("withdraw", release, "--reason", reason, "--as", "jonas", *options)

    def save(self, name: str) -> Path:
        """A copy of everything as it is now, to go back to."""
        saved = self.root.with_name(f"{self.root.name}.{name}")
        shutil.rmtree(saved, ignore_errors=True)
        return shutil.copytree(self.root, saved, symlinks=True)

    def bring_back(self, saved: Path) -> None:
        """What is on the disk, as it was; its place is the same, as the workspace notes paths."""
        shutil.rmtree(self.root)
        shutil.copytree(saved, self.root, symlinks=True)

    def go_back(self, saved: Path) -> None:
        """Bring the whole house back to what it was."""
        self.bring_back(saved)
        for name in ("contract", "policy", "people"):
            setattr(self, name, yaml.safe_load((self.documents / f"{name}.yaml").read_text(encoding="utf-8")))
        self.definition = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        self.data = pd.read_csv(self.documents / "people.csv")

    @property
    def ids(self) -> list[str]:
        return [row["release"] for row in self.sluice("status", "--json").json]

    @property
    def id(self) -> str:
        """The latest release."""
        return self.ids[-1]

    def events(self, release: str | None = None) -> list[str]:
        entries = self.workspace().ledger.entries(release)
        return [entry.event for entry in entries if release or entry.release != OFFICE]

    def workspace(self) -> Any:
        from sluice.custody.workspace import Workspace

        return Workspace.open(self.home)

    @property
    def shelf(self) -> list[str]:
        """What the public finds in the target folder, but for the catalogue: hidden names are none of it."""
        names = [path.name for path in self.target.iterdir()] if self.target.exists() else []
        said = (".current", ".current.json")
        return sorted(
            name for name in names if name[0] != "." and not name.startswith("catalogue.") and not name.endswith(said)
        )
