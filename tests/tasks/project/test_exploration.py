"""States of the explorer: what each of them masks, judges and writes, beside what a release finds of the same plan."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from schemas.reading.overview import overview
from schemas.reading.proposal import propose
from sluice.ground.errors import SluiceError
from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from tasks.project import exploration
from tasks.project.exploration import AS_IT_IS, LEFT_OUT, Explorer, State
from tasks.project.own_project import own_data
from tasks.release.products import load_definition
from tests.golden import golden


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    records = 1200
    age = rng.integers(18, 80, records)
    frame = pd.DataFrame(
        {
            "name": [f"person {number}" for number in range(records)],
            "age": age,
            "sex": rng.choice(["f", "m"], records),
            "town": rng.choice([f"town {at}" for at in range(30)], records),
            "born": pd.to_datetime("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, records), "D"),
            "mood": rng.choice(["good", "fair", "bad"], records),
            "income": np.round(rng.lognormal(10, 0.5, records) * (1 + age / 80)),
        }
    )
    path = tmp_path_factory.mktemp("explored") / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def explorer(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Explorer:
    monkeypatch.chdir(tmp_path)
    data = own_data(str(file))
    seen = overview(data.records, data.described)
    return Explorer(data, seen, propose(seen), "people")


@pytest.fixture
def state(explorer: Explorer) -> State:
    """Four quasi-identifiers, one sensitive variable, as they came."""
    roles = {
        "name": "identifier", "age": "quasi_identifier", "sex": "quasi_identifier", "town": "quasi_identifier",
        "born": "other", "mood": "sensitive", "income": "sensitive",
    }  # fmt: skip
    return explorer.changed(explorer.first(), roles, {}, "0", "public")


def test_each_threshold_is_met_in_the_preview(explorer: Explorer, state: State) -> None:
    small = {}
    for k in ("0", "5"):
        preview = explorer.preview(explorer.changed(state, {}, {"born": LEFT_OUT}, k, "public"))
        small[k] = {least: (before, after) for least, before, after in preview.small}
        assert next(each for each in preview.findings if each.rule == "k_anonymity").verdict is (
            Verdict.PASS if k == "5" else Verdict.FAIL
        )
    assert small["0"][5][1] > 0
    assert small["5"][5][1] == 0
    assert small["0"][5][0] == small["5"][5][0] > small["0"][5][1], "the original is the same for all"


def test_a_coarser_form_loses_more_and_makes_larger_groups(explorer: Explorer, state: State) -> None:
    forms = [each.says for each in explorer.forms(state)["age"]]
    assert (forms[0], forms[-1]) == (AS_IT_IS, LEFT_OUT)
    previews = [explorer.preview(explorer.changed(state, {}, {"age": form}, "0", "public")) for form in forms]
    lost = [next(each.lost for each in preview.losses if each.name == "age") for preview in previews]
    single = [preview.small[0][2] for preview in previews]
    assert lost == sorted(lost)
    assert lost[-1] == 1
    assert single == sorted(single, reverse=True)


def test_forms_are_those_of_roles_and_kinds(explorer: Explorer, state: State) -> None:
    forms = {name: [each.says for each in given] for name, given in explorer.forms(state).items()}
    assert "name" not in forms, "names of people are never released"
    assert any("groups" in says or "intervals" in says for says in forms["age"])
    assert any("groups" in says or "most frequent" in says for says in forms["town"])
    assert not any("swapped" in says for says in forms["town"])
    assert any("swapped" in says for says in forms["income"])
    dated = explorer.changed(state, {"born": "quasi_identifier"}, {}, "0", "public")
    assert [each.says for each in explorer.forms(dated)["born"]][1:-1]


def test_another_role_proposes_another_form_and_the_rest_stays(explorer: Explorer, state: State) -> None:
    form = explorer.forms(state)["town"][1].says
    first = explorer.changed(state, {}, {"town": form, "income": "drawn anew"}, "3", "public")
    second = explorer.changed(first, {"income": "other"}, dict(first.forms), "3", "public")
    assert second.roles["income"] is Role.OTHER
    assert explorer.chosen(second)["town"].says == form
    assert explorer.chosen(second)["income"].says == AS_IT_IS
    left_out = explorer.changed(first, {"income": "other"}, {"income": LEFT_OUT}, "3", "public")
    assert explorer.chosen(left_out)["income"].says == LEFT_OUT, "what nobody gets stays so under every role"


def test_what_is_written_is_what_was_previewed(explorer: Explorer, state: State) -> None:
    forms = {"age": explorer.forms(state)["age"][1].says, "born": LEFT_OUT, "income": "drawn anew"}
    wanted = explorer.changed(state, {}, forms, "5", "public")
    path = explorer.write(wanted)
    written = yaml.safe_load(path.read_text())
    assert [step["method"] for step in written["plan"]][-2:] == ["local_suppression", "sequential_trees"]
    assert written["policy"] == "public-use-file"
    assert load_definition(path)
    another = explorer.write(explorer.changed(wanted, {}, forms, "10", "public"))
    assert another.name == "people-2.yaml"
    assert yaml.safe_load(path.read_text()) == written, "what was written stays"


def test_a_plan_that_changes_nothing_is_refused_in_words(explorer: Explorer, state: State) -> None:
    roles = dict.fromkeys(explorer.names, "other") | {"name": "identifier"}
    kept = explorer.changed(state, roles, {}, "0", "public")
    golden(explorer.preview(kept).refused)
    with golden.raises(SluiceError):
        explorer.write(kept)
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("roles", "forms", "k", "use", "field"),
    [
        ({"age": "king"}, {}, "5", "public", "the role of age"),
        ({}, {"age": "level 99"}, "5", "public", "the form of age"),
        ({}, {}, "7", "public", "the threshold"),
        ({}, {}, "5", "everybody", "for whom"),
        ({"age": "weight", "income": "weight"}, {}, "5", "public", ""),
    ],
)
def test_what_no_page_offers_is_refused(
    explorer: Explorer, state: State, roles: dict[str, str], forms: dict[str, str], k: str, use: str, field: str
) -> None:
    with pytest.raises(SluiceError) as refusal:
        explorer.changed(state, roles, forms, k, use)
    assert refusal.value.field == field


def test_large_files_are_previewed_on_a_sample(
    explorer: Explorer, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploration, "MOST_PREVIEWED", 400)
    preview = explorer.preview(explorer.changed(state, {"mood": "other"}, {}, "5", "public"))
    assert 1000 < preview.records < 1200, "as many at least as the policy judges"
    assert preview.of == 1200


def test_a_folder_of_that_name_is_left_alone(explorer: Explorer, state: State) -> None:
    Path("people").mkdir()
    with pytest.raises(SluiceError) as refusal:
        explorer.write(explorer.changed(state, {}, {}, "5", "public"))
    assert refusal.value.field == "--dataset"
    assert not list(Path("people").iterdir())


def test_policies_are_offered_by_people_and_not_by_records(tmp_path: Path) -> None:
    """Of 300 people with seven records each the policy for small files is proposed."""
    rng = np.random.default_rng(5)
    waves = pd.DataFrame({"person_id": np.repeat(np.arange(300), 7), "year": np.tile(np.arange(2001, 2008), 300)})
    waves["age"] = 20 + waves["person_id"] % 40 + waves["year"] - 2001
    waves["wage"] = np.round(rng.lognormal(3, 0.4, len(waves)), 2)
    waves.to_csv(tmp_path / "waves.csv", index=False)
    data = own_data(str(tmp_path / "waves.csv"))
    seen = overview(data.records, data.described)
    proposed = propose(seen)
    assert proposed.people(seen) == 300
    assert Explorer(data, seen, proposed, "waves").uses[0] == "small"
