"""Intruders on what the shipped definitions make of their data: a search of many plans finds the gate's holes, too.

Most of these plans were found by `sluice tune`. The attacks are written apart from the gate's own measures. They know
all released variables of the people; under the policy for researchers, by which whoever knows everything finds people
and may not try, three, as many as that policy lets an acquaintance know. Others read a value by three that they know,
find the one who has a value, or tell who took part from people set aside.

The other side: no coefficient of the regressions that users make first changes its sign, or is lost or made.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from deployments.data import FILES
from deployments.warehouse import build_warehouse, write_connections
from sluice.custody.workspace import open_workspace
from sluice.documents.document_reading import parse_document, read_yaml
from sluice.ground.verdict import Verdict
from sluice.utility.analyses.analysis_findings import judge_analyses
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.turned_coefficients import TURNED_COEFFICIENTS
from sluice.utility.comparison import Comparison
from tasks.project.new_project import new_project
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.release_documents import load_documents
from tasks.tuning.search_context import staged_records
from tasks.tuning.trial import files_of_trial
from tests.red_team import attacks
from tests.red_team.attacks import ATTACKS
from tests.red_team.readings import alone_with_a_value, participation, values_gained
from tests.red_team.search import LIMITS

RELEASES = Path(__file__).resolve().parents[2] / "deployments" / "releases"
SHIPPED = sorted(
    path.name for path in RELEASES.glob("*.yaml") if "plan" in yaml.safe_load(path.read_text(encoding="utf-8"))
)
_DEMO, _EXAMPLE = "../demo/fair-survey.yaml", "releases/example.yaml"  # that of a new project
_NOTHING_SHOWN = "enterprises.yaml"  # of its regressions: masking changed too few values of what explains
_LONGEST = ("adult", "census-income", "diabetes", "nhanes")
_PEOPLE = 150  # that are looked for: 12 % of them are two standard errors from 7 and from 17 %
_OF_ACQUAINTANCES = 0.2  # share that somebody who knows three variables may find under the policy for researchers
_READ = 0.05  # what is read of somebody beyond what a file without them tells, as the policies have it
_READ_BY_RESEARCHERS = 0.1
_CHANCE = 0.05  # by which a share of 400 people, or the distance of two such samples, may lie above it
_TOOK_PART = 0.1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.longest] * name.startswith(_LONGEST)) for name in SHIPPED]
)
def test_no_attack_reaches_its_limit(
    name: str, reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attacks, "_PEOPLE", _PEOPLE)
    policy, files = masked(RELEASES / name, reference_data, tmp_path, monkeypatch)
    is_for_researchers = policy == "scientific-use-file"
    assert alone_with_a_value(files) <= 0.01
    may_read = (_READ_BY_RESEARCHERS if is_for_researchers else _READ) + _CHANCE
    read = values_gained(files, triples(files))
    assert {known: share for known, share in read.items() if share > may_read} == {}
    if files.holdout is not None:
        assert participation(files) <= _TOOK_PART + _CHANCE
    if is_for_researchers:
        reached = {" and ".join(known): attacks.nearest(only(files, known)) for known in triples(files)}
        limits = dict.fromkeys(reached, _OF_ACQUAINTANCES)
    else:
        reached, limits = {each: attack(files) for each, attack in ATTACKS.items()}, LIMITS
    assert {each: share for each, share in reached.items() if share > limits[each]} == {}
    # As they are, the records would be found: the attacks are no harmless ones.
    bare = replace(files, masked=files.recoded)
    assert attacks.nearest(bare) > 2 * max(reached.values())


@pytest.mark.parametrize(
    "name",
    [
        *[pytest.param(name, marks=[pytest.mark.longest] * name.startswith(_LONGEST)) for name in SHIPPED],
        _DEMO,
        _EXAMPLE,
    ],
)
def test_users_report_the_same_signs_and_effects(
    name: str, reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the regressions that the definition names, else those that a report drafts."""
    definition = RELEASES / name
    if name == _EXAMPLE:
        new_project(tmp_path / "project")
        definition = tmp_path / "project" / name
    _, files = masked(definition, reference_data, tmp_path, monkeypatch)
    named = Analyses.model_validate(read_yaml(definition).get("analyses", {}))
    found = judge_analyses(Analyses(), replace(files, analyses=named), lambda *_: {})
    turned = [each for each in found.findings if each.rule == TURNED_COEFFICIENTS.rule]
    assert [each.says for each in turned if each.verdict is not Verdict.PASS or not each.completed] == []
    assert turned or name == _NOTHING_SHOWN


def masked(
    shipped: Path, reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Comparison]:
    """The policy's name, and what a release by a shipped definition would judge, with a seed of this test."""
    build_warehouse(tmp_path / "warehouse.duckdb")
    write_connections(tmp_path / "connections.yaml", tmp_path / "warehouse.duckdb", [reference_data, tmp_path])
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    written = dict(yaml.safe_load(shipped.read_text(encoding="utf-8")))
    for document in ("contract", "policy"):
        if written[document].endswith(".yaml"):
            written[document] = str((shipped.parent / written[document]).resolve())
    if "path" in written["source"]:
        where = {file.name: reference_data / file.reference for file in FILES}
        paths = written["source"]["path"]
        written["source"]["path"] = [
            str(where.get(Path(each).name, shipped.parent / each))
            for each in ([paths] if isinstance(paths, str) else paths)
        ]
    path = tmp_path / shipped.name
    path.write_text(yaml.safe_dump(written, sort_keys=False), encoding="utf-8")
    definition = parse_document(RecordsDefinition, read_yaml(path), str(path))
    product = load_documents(Records, path, definition, open_workspace())
    _, records = staged_records(product)
    files = files_of_trial(definition, records, [4, 7, 1])
    return records.policy.name, files


def only(files: Comparison, known: tuple[str, ...]) -> Comparison:
    """The files as somebody sees them who knows these variables."""
    return replace(files, released={name: files.released[name] for name in known})


def triples(files: Comparison) -> list[tuple[str, ...]]:
    """The three variables of most values among those that are told apart at all, and threes drawn at random."""
    values = {name: files.recoded[name].nunique() for name in files.released if name in files.recoded}
    fine = sorted(values, key=lambda name: -values[name])
    rng = np.random.default_rng(11)
    drawn = [tuple(rng.choice(fine, 3, replace=False)) for _ in range(8)]
    return [tuple(fine[:3]), *drawn]
