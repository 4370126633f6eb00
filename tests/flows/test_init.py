"""`sluice init`: a conversation and its scripted form, what it writes and what it never tells."""

import os
import re
import signal
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from flows.cli.init import _trying
from flows.cli.init_conversation import show_plans
from flows.cli.main import main
from schemas.contract import load_contract
from sluice.ground.errors import DataError
from sluice.ground.variables import Role
from tasks.release.products import load_definition
from tasks.tuning.draft_steps import Draft
from tasks.tuning.first_plan import FirstPlan
from tasks.tuning.regressions_kept import AnalysesLoss
from tasks.tuning.space import SearchSettings
from tasks.tuning.suggestions import suggest_for
from tasks.tuning.trial import Miss, Outcome
from tests.flows.house import BLOCKED, DONE, ERROR
from tests.golden import golden
from tests.reference_data import adult_columns, reference_path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    return tmp_path


def survey(records: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "person": np.arange(records),
            "age": rng.integers(18, 80, records),
            "sex": rng.choice(["f", "m"], records),
            "town": rng.choice(["Aldby", "Borgen"], records),
            "mystery": rng.integers(1, 90, records),
            "income": np.round(rng.lognormal(10.2, 0.5, records), -2),
        }
    )
    frame.loc[0, "town"] = "Tinyville"
    frame.loc[1, "income"] = 987654.0
    return frame


def sluice(*arguments: str, answers: str = "", monkeypatch: pytest.MonkeyPatch | None = None) -> tuple[int, str]:
    """Exit code, and everything that was said on both streams."""
    said = StringIO()
    if monkeypatch is not None:
        monkeypatch.setattr("sys.stdin", StringIO(answers))
    with redirect_stdout(said), redirect_stderr(said):
        code = main(["init", *arguments])
    return code, re.sub(r"[^\S\n]+", " ", said.getvalue())


def contract(project: Path) -> dict[str, Role]:
    [path] = (project / "contracts").glob("*.yaml")
    return {name: each.role for name, each in load_contract(path).by_name.items()}


def written(project: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(project.rglob("*")) if path.is_file())


def test_for_scripts_it_takes_every_proposal_and_says_what_to_do_next(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", "--tries", "0")
    assert code == DONE, said
    assert {path.relative_to(here / "panel").as_posix() for path in (here / "panel").rglob("*") if path.is_file()} == {
        "README.md", "contracts/panel.yaml", "releases/panel.yaml", "connections.yaml", "environment", "people.yaml",
        ".gitignore", "prefect.yaml",
    }  # fmt: skip
    assert contract(here / "panel")["age"] is Role.QUASI_IDENTIFIER
    definition = load_definition(here / "panel" / "releases" / "panel.yaml")
    assert (str(definition.policy), definition.owner) == ("small-file", "mei")
    for command in ("check", "suggest", "tune", "office", "release"):
        assert f"sluice {command} panel/" in said or command == "suggest"
    assert "sluice adopt" in written(here / "panel")
    assert "`sluice check panel/releases/panel.yaml`" in (here / "panel" / "README.md").read_text()
    assert f"{here}/panel/people.yaml" in (here / "panel" / "people.yaml").read_text()


@pytest.mark.exhaustive
def test_while_a_draft_is_tried_it_says_how_far_that_is(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.cli.terminal._LINES", 0.0)  # nobody waits for the second line
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", "--tries", "1")
    assert code == DONE, said
    assert re.search(r"small-file, draft 1 of 1 (without attacks|under attack): [a-z ,]+\d+ %", said), said
    assert said.index("trying it") < said.index("small-file, draft") < said.index("small-file: ") < said.index("next:")


def test_why_drafts_cannot_be_carried_out_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    why = "no generalisation satisfies t-closeness"
    with _trying(("public",), None, 1.0) as trying:
        for keys in ("age, sex", "age"):
            refused = Outcome(
                end="refused", misses=(Miss(rule="t", stage="rules", verdict=2, far=1, says=f"of {keys}: {why}"),)
            )
            trying.told("public", 1, 2, Draft(f"groups of {keys}", "groups", ()), refused)
    said = capsys.readouterr().err
    assert (said.count("groups of"), said.count(why)) == (2, 1)


@pytest.mark.parametrize(("worst", "behind"), [(5.6, 77), (5.6, 3075), (1.2, 77)])
def test_the_coefficient_that_does_not_hold_is_named_with_the_few_records_that_make_it(
    capsys: pytest.CaptureFixture[str], worst: float, behind: int
) -> None:
    models = AnalysesLoss(worst=worst, holds=1, of=3, where="b in a ~ b + c", behind=behind)
    outcome = Outcome(end="passes", kept=9, of=9, models=models)
    show_plans({"public": FirstPlan(Draft("all drawn anew", "synthetic", ()), outcome, 1, 1000)})
    golden(capsys.readouterr().out)


def test_it_says_after_what_time_no_draft_is_tried_and_what_was_left(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", "--tries", "3", "--minutes", "0.00001")
    assert code == DONE, said
    golden.where("1 s ", said)
    golden.where("--minutes", said)
    golden.where("of time", re.sub(r"[\s#]+", " ", written(here / "panel")))


@pytest.mark.parametrize(("records", "use"), [(300, "business"), (40, None)])
def test_where_no_plan_can_pass_none_is_tried_and_one_sentence_says_why(
    here: Path, records: int, use: str | None
) -> None:
    survey(records).to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", *(["--for", use] if use else []))
    assert code == DONE, said
    golden([line for line in said.splitlines() if "no plan can pass" in line])
    assert "draft 1" not in said
    with golden.raises(DataError):
        suggest_for(here / "panel" / "releases" / "panel.yaml", SearchSettings())


def test_what_the_nearest_draft_does_not_meet_is_listed(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", "--tries", "1")
    assert code == DONE, said
    golden.words([line for line in said.splitlines() if line.startswith((" - ", "no draft"))])


def test_the_conversation_asks_where_it_matters_and_one_key_answers(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "mine", "--tries", "0", answers="2\n\no\ntown\ns\n\n", monkeypatch=monkeypatch)
    assert code == DONE, said
    assert "99 of 100" in said
    golden.where("mystery: quasi_identifier", said)
    assert "age: quasi_identifier" not in said, "what is certain is not asked"
    roles = contract(here / "mine")
    assert (roles["mystery"], roles["town"], roles["sex"]) == (Role.OTHER, Role.SENSITIVE, Role.QUASI_IDENTIFIER)
    assert str(load_definition(here / "mine" / "releases" / "panel.yaml").policy) == "scientific-use-file"


def test_an_answer_that_is_none_is_asked_again_and_no_answer_writes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--tries", "0", answers="9\n1\nzz\n", monkeypatch=monkeypatch)
    assert code == ERROR
    golden.where("1 to 6", said)
    golden.where(" i, q, s,", said)
    golden.where("error: ", said)
    assert os.listdir(here) == ["panel.csv"]


@pytest.mark.exhaustive
def test_the_policy_that_fits_enterprises_and_few_people_is_proposed_and_too_few_records_are_said(here: Path) -> None:
    def policy(records: int, *arguments: str, **named: pd.Series) -> tuple[str, str]:
        survey(records).assign(**named).to_csv("a.csv", index=False)
        project = f"p{len(list(here.iterdir()))}"
        code, said = sluice("a.csv", project, "--yes", "--tries", "0", *arguments)
        assert code == DONE, said
        return str(load_definition(here / project / "releases" / "a.yaml").policy), said

    assert policy(1000)[0] == "public-use-file"
    assert policy(999)[0] == "small-file"
    firms = pd.Series(np.arange(1500) % 900)
    assert policy(1500, company_id=firms)[0] == "public-use-business"
    assert policy(1500, company_id=firms % 700)[0] == "small-file", "of each firm one record counts"
    assert policy(1500, "--for", "business")[0] == "public-use-business"
    _, said = policy(999, "--for", "public")
    assert " 1,000 records" in said
    golden.where("--for small", said)
    small = policy(150)[1]
    assert " 200 records" in small
    golden.where("docs/tables.md", small)
    assert "docs/tables.md" not in policy(250)[1]


@pytest.mark.exhaustive
def test_a_plan_that_passes_by_leaving_out_what_users_want_says_so(here: Path) -> None:
    rng = np.random.default_rng(1)
    codes = pd.Series([f"disease {code}" for code in rng.integers(1, 200, 2000)])
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 2000), "town": rng.choice(["A", "B"], 2000), "diagnosis": codes}
    )
    frame.to_csv("a.csv", index=False)
    code, said = sluice("a.csv", "--yes", "--for", "scientific")
    assert code == DONE, said
    golden.where("the drafted plan ", said)
    golden.where("diagnosis; ", said)
    assert "sluice tune a/" in said


def test_before_plans_are_tried_it_says_that_none_can_pass_where_nothing_is_sensitive(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey(1200).drop(columns="income").to_csv("a.csv", index=False)
    code, said = sluice("a.csv", "--yes", "--tries", "0")
    assert code == DONE, said
    golden.where("l_diversity", said)
    code, said = sluice("a.csv", "c", "--tries", "0", answers="1\na\nmystery\ns\n\n", monkeypatch=monkeypatch)
    assert code == DONE, said
    assert said.index("l_diversity") < said.index("mystery: quasi_identifier ("), "who answers can mend it"
    survey(1200).to_csv("b.csv", index=False)
    assert "l_diversity" not in sluice("b.csv", "--yes", "--tries", "0")[1]


def test_two_households_are_refused_by_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", answers="\na\nage\nh\nsex\nh\n\n", monkeypatch=monkeypatch)
    assert code == ERROR
    golden.where("household: ", said.partition("error: ")[2])
    assert os.listdir(here) == ["panel.csv"]


def test_nothing_is_overwritten_and_that_is_said_before_the_data_are_read(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    (here / "panel").mkdir()
    (here / "panel" / "mine.txt").write_text("mine")
    code, said = sluice("panel.csv", "--yes")
    assert code == ERROR
    golden(said)
    assert written(here / "panel") == "mine"
    (here / "contract.yaml").write_text("mine")
    assert sluice("panel.csv", "-o", "contract.yaml")[0] == ERROR
    assert (here / "contract.yaml").read_text() == "mine"


@pytest.mark.parametrize("where", ["contract_yaml", "_definition_yaml", "write_roster"])
def test_interrupted_it_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    survey().to_csv("panel.csv", index=False)
    module = "new_project" if where == "write_roster" else "own_project"

    def interrupt(*arguments: object, **named: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(f"tasks.project.{module}.{where}", interrupt)
    code, _ = sluice("panel.csv", "--yes", "--tries", "0")
    assert code == 130
    assert os.listdir(here) == ["panel.csv"]


@pytest.mark.parametrize(("known", "by"), [(0, signal.SIGINT), (1, signal.SIGTERM), (0, signal.SIGALRM)])
def test_who_stops_it_gets_the_plan_that_was_found_until_then_and_the_end_of_the_time_does_so_too(
    here: Path, monkeypatch: pytest.MonkeyPatch, known: int, by: signal.Signals
) -> None:
    survey(1000).to_csv("panel.csv", index=False)
    judged: list[str] = []

    def tried(*arguments: object, attacked: bool = True, **named: object) -> Outcome:
        judged.extend(["attacked"] * attacked)
        if by != signal.SIGALRM and (len(judged) > known if known else True):
            os.kill(os.getpid(), by)
        return Outcome(end="passes", kept=4, of=4, models=AnalysesLoss(holds=1, of=1, worst=0.5))

    monkeypatch.setattr("tasks.tuning.first_plan.try_plan", tried)
    minutes = "0" if by == signal.SIGALRM else "5"
    code, said = sluice("panel.csv", "--yes", "--for", "scientific", "--minutes", minutes)
    assert code == (DONE if by == signal.SIGALRM else 130)
    if not known:
        assert os.listdir(here) == (["panel", "panel.csv"] if by == signal.SIGALRM else ["panel.csv"])
        return
    golden.where("stopped", said)
    assert "passed" in said
    assert load_definition(here / "panel" / "releases" / "panel.yaml")


def test_no_rare_value_is_on_the_screen_or_in_a_file(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", "--tries", "0")
    assert code == DONE
    for rare in ("Tinyville", "987654", "987,654"):
        assert rare not in said
        assert rare not in written(here / "panel")


@pytest.mark.parametrize(
    "name", ["a: b #", "x\x1b[31mred", "\u202eeman", "role: other\n  - name: b", "- {", "'\"", "# c", "[bold]x[/bold]"]
)
def test_names_and_values_of_attackers_change_neither_documents_nor_terminal(here: Path, name: str) -> None:
    frame = survey()
    frame[name] = np.random.default_rng(1).choice(["v: 1 #", "w\x1b]0;t\x07", "\u202ex"], len(frame))
    frame.to_parquet("panel.parquet")
    code, said = sluice("panel.parquet", "--yes", "--tries", "0")
    for bad in ("\x1b", "\u202e", "\x07"):
        assert bad not in said
    if code != DONE:  # a name that no contract takes: said so, and nothing written
        assert os.listdir(here) == ["panel.parquet"]
        assert re.search(r"\b7 .*U\+[0-9A-F]{4}", said), "its place and the character, never the name itself"
        return
    assert list(contract(here / "panel")) == [*survey(), name]
    golden.where("contract 'panel'", said)  # nobody sees what its values are
    for bad in ("\x1b", "\u202e", "\x07"):
        assert bad not in written(here / "panel")


def test_a_contract_alone(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    assert sluice("panel.csv", "-o", "contract.yaml")[0] == DONE
    assert sorted(os.listdir(here)) == ["contract.yaml", "panel.csv"]
    assert load_contract(here / "contract.yaml").record_key == ("person",)
    code, said = sluice("panel.csv", "-o", "-")
    assert (code, 'dataset: "panel"' in said) == (DONE, True)


def test_data_that_lie_elsewhere_are_let_be_read_by_the_connections_file(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    survey().to_csv(elsewhere / "panel.csv", index=False)
    code, said = sluice(str(elsewhere / "panel.csv"), "--yes", "--tries", "0")
    assert code == DONE
    assert "export SLUICE_CONNECTIONS=panel/connections.yaml" in said
    assert yaml.safe_load((here / "panel" / "connections.yaml").read_text())["files"] == [str(elsewhere)]


def test_data_beside_the_project_may_be_read_from_within_it_by_the_connections_file(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    code, said = sluice("panel.csv", "--yes", "--tries", "0")
    assert (code, "export SLUICE_CONNECTIONS" in said) == (DONE, False)
    assert yaml.safe_load((here / "panel" / "connections.yaml").read_text())["files"] == [str(here)]


def test_a_file_without_header_says_by_which_option_its_columns_are_named(here: Path) -> None:
    (here / "panel.csv").write_text("12,a,2.5\n13,b,3.5\n" * 20)
    code, said = sluice("panel.csv", "--yes", "--tries", "0")
    assert code == DONE
    golden.where("--columns", said)


@pytest.mark.parametrize(
    "options",
    [("-o", "c.yaml"), ("-o", "none/c.yaml"), ("--contract", "none.yaml"), ("--contract", "c.yaml", "-o", "d.yaml"),
     ("--for", "everybody")],
)  # fmt: skip
def test_options_are_refused_before_the_data_are_looked_at(here: Path, options: tuple[str, ...]) -> None:
    Path("c.yaml").write_text("dataset: x")
    code, said = sluice("no_such_file.csv", "--yes", *options)
    assert code == ERROR
    assert "no_such_file" not in said


def test_an_unknown_use_is_refused(here: Path) -> None:
    code, said = sluice("panel.csv", "--for", "everybody")
    assert code == ERROR
    golden.where("--for", said)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "drafts", [("--for", "public", "--tries", "1"), pytest.param(("--tries", "4"), marks=pytest.mark.longest)]
)
def test_on_adult_the_first_check_needs_no_line_and_no_rare_value_is_told(here: Path, drafts: Sequence[str]) -> None:
    frame = pd.read_csv(
        reference_path("adult", "adult.data.gz"), header=None, names=adult_columns(), skipinitialspace=True, dtype=str
    ).iloc[:2000]
    frame.to_csv("adult.csv", index=False)
    code, said = sluice("adult.csv", "--yes", *drafts)
    assert code == DONE, said
    told = said + written(here / "adult")
    for name in frame:
        times = frame[name].value_counts()
        for rare in times[times < 10].index:
            if not rare.isdigit() or len(rare) > 4:  # a small number may stand anywhere
                assert re.search(rf"(?<![\w-]){re.escape(rare)}(?![\w-])", told) is None, f"a rare value of {name}"
    golden.where("education_num tells", said)
    said_of_check = StringIO()
    with redirect_stdout(said_of_check), redirect_stderr(said_of_check):
        code = main(["check", "adult/releases/adult.yaml"])
    assert code in (DONE, BLOCKED), said_of_check.getvalue()
    if code == BLOCKED:  # by this draw: seeds of a house are its own
        assert re.search("sluice suggest|Needs a decision: ", said_of_check.getvalue())


def test_no_plan_is_drafted_again_for_data_that_are_not_what_the_contract_says(here: Path) -> None:
    Path("panel.csv").write_text("sex,age\n" + "m,34\nf,51\nx,40\n" * 20)
    variables = (
        "- {name: sex, kind: nominal, categories: [m, f], role: quasi_identifier}\n- {name: age, kind: integer}\n"
    )
    Path("contract.yaml").write_text(f"dataset: panel\nversion: 1\nvariables:\n{variables}")
    code, said = sluice("panel.csv", "--contract", "contract.yaml", "--tries", "0")
    assert code == ERROR
    golden.where("no plan was drafted", said)
    golden.where("'sex'", said)
    assert sorted(os.listdir(here)) == ["contract.yaml", "panel.csv"]


def test_for_a_corrected_contract_a_plan_is_drafted_again_and_nothing_is_overwritten(here: Path) -> None:
    survey().to_csv("panel.csv", index=False)
    assert sluice("panel.csv", "--yes", "--tries", "0")[0] == DONE
    path = here / "panel" / "contracts" / "panel.yaml"
    corrected = re.sub(r"(name: \"mystery\"\n.*\n    role: )\S+", r"\1sensitive", path.read_text())
    path.write_text(corrected)
    first = (here / "panel" / "releases" / "panel.yaml").read_text()
    for name in ("panel-drafted", "panel-drafted-2"):
        code, said = sluice("panel.csv", "--contract", "panel/contracts/panel.yaml", "--tries", "0")
        assert code == DONE, said
        commands = re.findall(rf"sluice (\w+) panel/releases/{name}.yaml", said)
        assert commands == ["check", "suggest", "tune"], "no plan was tried, and so none passes"
        found = load_definition(here / "panel" / "releases" / f"{name}.yaml")
        assert found.title == "panel"
    assert "mystery" in (here / "panel" / "releases" / "panel-drafted.yaml").read_text()
    assert path.read_text() == corrected
    assert (here / "panel" / "releases" / "panel.yaml").read_text() == first
    code, said = sluice("panel.csv", "other", "--contract", "panel/contracts/panel.yaml")
    assert code == ERROR
    golden.where("--contract: ", said)
