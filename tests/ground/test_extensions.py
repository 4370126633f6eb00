"""Extensions: methods and checks of other distributions, and that they count where the policy names these."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sluice.ground import extensions
from sluice.ground.errors import SluiceError
from sluice.ground.extensions import distribution_of, extended, extensions_of, unnamed
from sluice.masking import Step
from sluice.masking.masking_step import MaskingStep
from sluice.masking.recoding.removal import Removal
from tests.extension.installed import ENTRY_POINTS, install
from tests.golden import golden


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distributions are looked for as in a new process."""
    monkeypatch.setattr(extensions, "_DISTRIBUTIONS", {})
    extensions._offered.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: None) -> Any:
    def installed(**given: Any) -> Path:
        monkeypatch.syspath_prepend(install(tmp_path / "site", **given))
        return tmp_path / "site"

    yield installed
    extensions._offered.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


def test_without_any_extension_the_union_is_the_one_it_was(anew: None) -> None:
    assert extended(Step, "sluice.methods", MaskingStep, "method") is Step
    assert (distribution_of(Removal), unnamed([Removal], []), extensions_of([Removal])) == (None, [], [])


def test_a_method_counts_where_its_distribution_is_named(site: Any) -> None:
    folder = site()
    (floor,) = extensions._offered("sluice.methods")
    assert distribution_of(floor) == "acme-sluice"
    assert unnamed([floor, Removal], []) == ["acme-sluice"]
    assert unnamed([floor], ["Acme.Sluice"]) == []
    (found,) = extensions_of([floor, floor, Removal])
    record = (folder / "acme_sluice-1.0.dist-info" / "RECORD").read_bytes()
    assert (found.name, found.version, found.sha256) == ("acme-sluice", "1.0", hashlib.sha256(record).hexdigest())


def test_what_was_changed_after_it_was_installed_is_refused(site: Any) -> None:
    folder = site()
    (floor,) = extensions._offered("sluice.methods")
    with (folder / "acme" / "method.py").open("a") as file:
        file.write("# another\n")
    golden.refused(SluiceError, extensions_of, [floor])


def test_what_has_no_record_of_its_files_is_refused(site: Any) -> None:
    site(record=False)
    golden.refused(SluiceError, extensions_of, extensions._offered("sluice.methods"))


@pytest.mark.parametrize(
    "entry_points",
    [
        ENTRY_POINTS.replace("acme.method:AcmeFloor", "acme.nothing:AcmeFloor"),
        ENTRY_POINTS.replace("acme.method:AcmeFloor", "sluice.ground.errors:did_you_mean"),
        ENTRY_POINTS.replace("acme.method:AcmeFloor", "sluice.masking:Removal"),
    ],
)
def test_what_is_no_method_of_its_own_is_refused(site: Any, entry_points: str) -> None:
    site(entry_points=entry_points)
    golden.refused(SluiceError, extended, Step, "sluice.methods", MaskingStep, "method")


@pytest.mark.servers
def test_a_definition_and_a_policy_use_what_is_installed(tmp_path: Path) -> None:
    site = install(tmp_path / "site")
    path = os.pathsep.join([str(site), str(Path(__file__).parents[2])])
    ran = subprocess.run(
        [sys.executable, "-m", "tests.extension.with_acme", str(tmp_path)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout.splitlines()[-1])
    assert seen["methods"]
    assert seen["advice"] == "Top-code the variable further."
    assert seen["source"].startswith("Source: Hundepool")
    golden.words(seen["check is not named"])
    golden.words(seen["method is not named"])
    assert (seen["release"], seen["approvals"]) == (3, [3, 0])
    record = hashlib.sha256((site / "acme_sluice-1.0.dist-info" / "RECORD").read_bytes()).hexdigest()
    assert seen["versions"]["acme-sluice"] == f"1.0, RECORD {record}"
    assert "income: each value is the multiple of 1000 below it." in seen["plan"]
