"""What an ingenious or careless insider could try: unsafe files that every rule let through, values and links that
leave by the back door, and ways around the approvals."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.policy import Policy
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import judge_reference_standard
from policies.waivers import Waiver, apply_waivers
from schemas.reading.contract_draft import draft_contract
from sluice.custody import shelf
from sluice.custody.ledger_entry import last
from sluice.custody.states import State
from sluice.documents.document_reading import parse_document, read_yaml
from sluice.ground.errors import DataError, DocumentError, SluiceError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.publication.records_file import write_in_order, write_parquet
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.classes.sample_uniques import SampleUniquesShare
from sluice.risk.classes.t_closeness import TCloseness
from sluice.risk.publications.publication import changed_records
from sluice.sources.sources import CsvSource
from sluice.utility.comparison import Comparison
from tasks.ingest import ingest
from tasks.publish import publish
from tasks.record_steps import mask
from tasks.release.decisions.decisions_of_people import approve as approve_as
from tasks.release.decisions.signing_in import Credentials, account
from tasks.release.decisions.under_review import UnderReview, report_path, subject
from tasks.release.product import AnyProduct, AnyRelease
from tasks.release.products import load_product
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_editions import compare_publications
from tasks.release.records.record_variables import described_variables, original_variables, read_masked, read_original
from tests.flows.house import House
from tests.golden import golden
from tests.red_team.stages import bare
from tests.red_team.stages import publish as publish_history

CANARY = "canary4711"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def product_of(house: House) -> AnyProduct:
    house.write()
    house.adopt()
    return load_product(house.file, house.workspace())


def staged(house: House) -> AnyRelease:
    release: AnyRelease = bare(ingest)(product_of(house))
    return release


def masked(house: House) -> AnyRelease:
    release = staged(house)
    release.record(State.VALIDATED)
    bare(mask)(release)
    return release


def few_changes(release: AnyRelease) -> Finding:
    (finding,) = (finding for finding in compare_publications(release) if finding.rule == "few_changes")
    return finding


# -- unsafe files that met every rule


def test_a_hair_of_noise_makes_no_group_diverse() -> None:
    frame = pd.DataFrame({"sex": pd.Categorical(["f"] * 6 + ["m"] * 6), "income": [0.0] * 6 + [1e3, 2e3, 3e3] * 2})
    variables = {
        "sex": Variable(name="sex", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER),
        "income": Variable(name="income", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
    }
    hair = AdditiveNoise(columns=("income",), amount=1e-9).mask(frame, variables, np.random.default_rng(1))
    assert hair["income"].nunique() == len(frame)
    (finding,) = LDiversity(l=2).find(hair, variables, "masked")
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 1)


@pytest.mark.parametrize(
    ("rule", "setting"), [(LDiversity, {"l": 1}), (TCloseness, {"t": 1}), (SampleUniquesShare, {"at_most": 1})]
)
def test_a_rule_that_nothing_can_break_is_refused(rule: type, setting: dict[str, float]) -> None:
    with golden.raises(ValueError):
        rule(**setting)


def test_a_quasi_identifier_that_no_rule_looks_at_needs_a_decision(house: House) -> None:
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 2, "columns": ["sex"]}]
    product = product_of(house)
    (finding,) = product.policy.overlooked(described_variables(product))
    assert (finding.verdict, finding.scope) == (Verdict.REVIEW, "age, region")
    house.policy["rules"].append({"rule": "l_diversity", "l": 2, "columns": ["income"]})  # by all quasi-identifiers
    assert product_of(house).policy.overlooked(described_variables(product)) == []


@pytest.mark.parametrize(
    "step",
    [
        {"method": "top_bottom_coding", "columns": ["income"], "top": {"value": 9}, "minimum_tail": 1},
        {"method": "microaggregation", "columns": ["income"], "k": 2},
    ],
    ids=lambda step: str(step["method"]),
)
def test_a_published_mean_is_of_more_than_two(house: House, step: dict[str, Any]) -> None:
    house.definition["plan"].append(step)
    with golden.raises(DocumentError):
        parse_document(RecordsDefinition, house.definition, "release.yaml")


def test_who_submits_a_release_cannot_excuse_it() -> None:
    today = datetime.now(UTC).date()
    waiver = Waiver(
        rule="k_anonymity",
        scope="fair",
        reason="it will be all right, I think",
        owner="Emil ",
        granted=today,
        expires=today,
    )
    failed = Finding(rule="k_anonymity", verdict=Verdict.FAIL, says="x")
    assert decide(apply_waivers([failed], [waiver], "fair", today, "emil")) is Verdict.FAIL
    assert decide(apply_waivers([failed], [waiver], "fair", today, "amara")) is Verdict.PASS


# -- links between releases


def test_households_bear_other_names_in_every_release_and_are_told_to_be_unmeasured(house: House) -> None:
    house.definition["plan"][0]["columns"] = ["town"]
    one = staged(house)
    house.definition["title"] = "The same once more"
    other = staged(house)
    names = [set(read_original(release, release.original)["household"]) for release in (one, other)]
    in_vault = set(one.read_staged()["household"])
    assert len(names[0]) == len(names[1]) == len(in_vault)
    assert not names[0] & names[1]
    assert not names[0] & in_vault
    one.record(State.VALIDATED)
    assert (
        set(read_masked(one, bare(mask)(one))["household"]) == names[0]
    )  # and it is the same household all through one release
    variables = original_variables(one)
    original, recoded = read_original(one, one.original), read_original(one, one.original)
    findings, _ = judge_reference_standard(
        ReferenceStandard(),
        Comparison(original, recoded, original, None, variables, variables, np.random.default_rng(1)),
    )
    (read,) = (finding for finding in findings if finding.rule == "comparable_values")
    assert read.verdict is Verdict.REVIEW
    assert "household" in read.says


def test_an_edition_that_differs_in_few_records_needs_a_decision(house: House) -> None:
    first = masked(house)
    alone = few_changes(first)
    assert (alone.verdict, alone.attempted) == (Verdict.PASS, 0)
    publish_history(first)
    house.data.loc[5, "income"] += 12_000
    close = few_changes(masked(house))
    assert (close.verdict, close.binding, close.attempted) == (Verdict.REVIEW, True, 1)
    assert first.id in close.says
    house.data.loc[:30, "income"] += 12_000
    apart = few_changes(masked(house))
    assert (apart.verdict, apart.attempted) == (Verdict.PASS, 1)


def test_two_editions_that_wait_at_once_are_held_beside_each_other_when_the_second_goes_out(house: House) -> None:
    first = masked(house)
    house.data.loc[5, "income"] += 12_000
    second = masked(house)
    assert few_changes(second).verdict is Verdict.PASS  # neither is public yet
    publish_history(first)
    assert few_changes(second).verdict is Verdict.REVIEW


def test_few_changes_can_be_waived_by_name() -> None:
    assert {"few_changes", "overlooked_keys", "lone_copies", "lenient_standard"} <= set(
        Policy.model_validate(
            {"name": "p", "version": 1, "rules": [KAnonymity(k=3)], "reference_standard": {}, "approvals": {}}
        ).waivable
    )


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.lists(st.integers(0, 3), max_size=30), st.randoms())
def test_changed_records_are_counted_as_a_multiset(old: list[int], new: list[int], random: Any) -> None:
    def frame(values: list[int]) -> pd.DataFrame:
        return pd.DataFrame({"a": pd.Series(values, dtype="Int64"), "b": pd.Categorical([str(v) for v in values])})

    counts = [np.bincount(values, minlength=4) for values in (np.array(old), np.array(new, dtype=int))]
    expected = max((counts[0] - counts[1]).clip(0).sum(), (counts[1] - counts[0]).clip(0).sum())
    random.shuffle(new)
    assert changed_records(frame(old), frame(new)) == expected


# -- the dice


def test_the_same_records_in_another_order_are_the_same_release(house: House) -> None:
    first = staged(house)
    house.data = house.data.sample(frac=1, random_state=1)
    second = staged(house)
    assert (second.id, second.data) == (first.id, first.data)
    del house.contract["record_key"]
    other = staged(house)
    house.data = house.data.sample(frac=1, random_state=2)
    assert staged(house).data == other.data


@given(st.lists(st.tuples(st.none() | st.integers(-2, 2), st.none() | st.sampled_from("ab")), min_size=1), st.randoms())
def test_any_order_is_written_alike(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], random: Any) -> None:
    folder = tmp_path_factory.mktemp("order")
    variables = {"n": Variable(name="n", kind=Kind.INTEGER), "t": Variable(name="t", kind=Kind.NOMINAL)}
    written = []
    for name in ("one", "other"):
        frame = pd.DataFrame(
            {"n": pd.array([row[0] for row in rows], "Int64"), "t": pd.Categorical([r[1] for r in rows])}
        )
        write_parquet(frame, folder / name, variables)
        assert write_in_order(folder / name, folder / f"{name}.ordered", variables, ["t"]) == len(rows)
        written.append((folder / f"{name}.ordered").read_bytes())
        random.shuffle(rows)
    assert written[0] == written[1]


def test_a_release_id_confirms_no_guess_of_the_data(tmp_path: Path) -> None:
    ids = set()
    for name in ("here", "there"):
        house = House(tmp_path / name)
        house.draws = name  # each house has a secret of its own
        del house.contract["record_key"]
        house.contract["variables"][2] |= {"role": "identifier"}  # nothing hashed is left: the staged bytes are equal
        house.contract["variables"][0] |= {"role": "other"}
        house.definition["plan"][0]["columns"] = ["town", "person"]
        release = staged(house)
        ids.add((release.data.sha256, release.id))
    assert len({data for data, _ in ids}) == 1
    assert len({release for _, release in ids}) == 2


# -- values in errors


@pytest.mark.parametrize("first", [f"39,{CANARY},77516", f"{CANARY},{CANARY},0"])
def test_the_first_record_of_a_file_without_header_is_not_quoted(tmp_path: Path, first: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{first}\n40,Ann,1\n", encoding="utf-8")
    for source in (CsvSource(path=str(path)), CsvSource(path=str(path), skip_lines=1)):
        with pytest.raises(DataError, match="header") as refusal:
            list(source.batches(["age", CANARY.title(), "income"]))
        assert CANARY not in str(refusal.value)
    path.write_text(f"{first.replace('77516', '1')}\n", encoding="utf-8")
    with pytest.raises(DataError, match="header") as refusal:
        draft_contract(CsvSource(path=str(path)), "people")
    assert CANARY not in str(refusal.value)


def test_the_first_record_of_a_second_file_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,name\n40,Ann\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text(f"41,{CANARY}\n40,Ann\n", encoding="utf-8")
    with golden.raises(DataError) as refusal:
        list(CsvSource(path=("a.csv", "b.csv")).resolve(tmp_path).batches(["age", "name"]))
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize(
    "step",
    [
        {"method": "global_recoding", "columns": ["town"], "categories": {"a town": ["Aldby", "Borgen", "Cresthill"]}},
        {"method": "global_recoding", "columns": ["town"], "categories": {"a town": [CANARY + "x"]}, "others": "rest"},
        {"method": "global_recoding", "columns": ["town"], "level": 1},
    ],
    ids=["left out", "misspelt", "level"],
)
def test_a_category_that_only_the_data_tell_is_in_no_error(house: House, step: dict[str, Any]) -> None:
    house.data.loc[3, "town"] = CANARY
    house.variable("town")["hierarchy"] = {"rows": {town: ["*"] for town in ("Aldby", "Borgen", "Cresthill")}}
    house.definition["plan"] = [{"method": "removal", "columns": ["household"]}, step]
    with golden.raises(DataError) as refusal:
        staged(house)
    assert CANARY not in str(refusal.value)
    assert refusal.value.__context__ is None or refusal.value.__suppress_context__


# -- documents

# Each alias doubles the one before: 2^40 values in a page.
_BOMB = "a: &a [x, x]\n" + "".join(
    f"k{i}: &k{i} [*{before}, *{before}]\n" for i, before in enumerate(["a", *(f"k{i}" for i in range(40))])
)


@pytest.mark.parametrize(
    "text",
    [
        "? [a]\n: b\n",
        "day: 2024-02-30\n",
        "[" * 3000,
        "a: &a [*a]\n",
        _BOMB,
        'title: "\\e[2K\\e[1A PASS"\n',
        'owner: "em\\u200bil"\n',
    ],
    ids=["key", "date", "deep", "endless", "bomb", "terminal", "invisible"],
)  # fmt: skip
def test_a_document_that_is_a_weapon_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    golden.refused(DocumentError, read_yaml, path)


def test_a_password_in_the_wrong_place_is_not_repeated(house: House) -> None:
    for source in (f"postgresql://emil:{CANARY}@host/db", {"type": f"postgresql://emil:{CANARY}@host/db"}):
        house.definition["source"] = source
        with pytest.raises(DocumentError) as refusal:
            parse_document(RecordsDefinition, house.definition, "release.yaml")
        assert CANARY not in str(refusal.value)


# -- the shelf, the vault and the approvals


@pytest.mark.parametrize("target", ["../home", "../home/vault/objects", "..", "/"])
def test_nothing_is_published_in_or_around_the_workspace(house: House, target: str) -> None:
    house.definition["target"] = target
    with golden.raises(DocumentError):
        product_of(house)


@pytest.mark.parametrize(("place", "on_it"), [("open/shelf", "open/shelf"), ("open", "open/new")])
def test_a_shelf_that_everybody_may_write_to_or_replace_is_refused(tmp_path: Path, place: str, on_it: str) -> None:
    (tmp_path / "open" / "shelf").mkdir(parents=True)
    (tmp_path / place).chmod(0o777)
    with golden.raises(SluiceError):
        shelf.publish(tmp_path / on_it, "fair-1", {"a.csv": b"a\r\n"})
    assert list(tmp_path.rglob("*.csv")) == []


def test_a_shelf_in_a_folder_like_tmp_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    assert shelf.publish(tmp_path / "open" / "new", "fair-1", {"a.csv": b"a\r\n"}).is_dir()


def test_whoever_ever_ran_a_release_may_not_approve_it(house: House) -> None:
    release = staged(house)
    received = last(release.entries(), State.RECEIVED)
    assert received
    for person in ("amara", account()):
        release.record_as(person, State.RECEIVED, **received.body)
    assert {"amara", "emil"} < set(UnderReview.of(release.product.workspace, release.id).submitters)


def test_a_superseded_edition_can_still_be_withdrawn(house: House) -> None:
    release = staged(house)
    publish_history(release, after=State.RECEIVED)
    release.record(State.SUPERSEDED, by="a later one")
    release.record(State.WITHDRAWN, reason="it was not safe")
    assert release.state is State.WITHDRAWN


def test_a_ledger_that_is_gone_together_with_its_anchor_does_not_begin_anew(house: House) -> None:
    staged(house)
    (house.home / "ledger.db").unlink()
    (house.home / "vault" / "anchor").unlink()
    with golden.raises(SluiceError):
        staged(house)
    golden(house.workspace().ledger.verify())


def approved(house: House, finding: Finding) -> AnyRelease:
    """A release whose dossier holds this finding, with all approvals, at the door."""
    from policies.waivers import apply_waivers
    from sluice.report.dossier import Dossier, RecordsView

    release = staged(house)
    release.record(State.VALIDATED)
    masked = bare(mask)(release)
    day = datetime.fromisoformat("2026-01-31").date()
    findings = apply_waivers([finding], release.product.policy.waivers, release.product.definition.name, day)
    hashes = {**release.product.hashes, "data": masked.sha256, "csv": masked.csv_sha256}
    fields: dict[str, Any] = dict.fromkeys(
        ("title", "dataset", "contract_version", "policy", "policy_version", "submitter", "approvals_needed"), "x"
    )
    dossier = Dossier(
        **fields, release=release.id, name="people-puf", evaluated_at="2026-01-31T00:00:00+00:00", verdict=Verdict.PASS,
        findings=tuple(findings), plan=(), records_original=masked.rows, earlier_attempts=0,
        minimum_cell=10, hashes=hashes, versions={"sluice": "0.0"},
        view=RecordsView(records_holdout=0, records_released=masked.rows),
    )  # fmt: skip
    vault = release.vault
    kept = {
        "report": vault.keep_bytes(b"report", ".html"),
        "dossier": vault.keep_bytes(dossier.model_dump_json().encode(), ".json"),
    }
    report_path(release).write_bytes(b"report")
    release.record(State.EVALUATED, subject=hashes | kept, verdict="PASS", says="", **kept)
    release.record(State.PENDING_REVIEW)
    for who in ("amara", "jonas"):
        approve_as(release, Credentials(declared=who), "")
    release.record(State.APPROVED)
    return release


def failing(rule: str) -> Finding:
    return Finding(rule=rule, verdict=Verdict.FAIL, says="It is unsafe.", scope="age")


@pytest.mark.parametrize("waived", [False, True])
def test_what_did_not_pass_is_not_published_though_the_ledger_says_approved(house: House, waived: bool) -> None:
    """Nor with a waiver that ended between approval and publication."""
    waiver = {"rule": "k_anonymity", "scope": "age", "owner": "amara", "reason": "agreed with the people, file 7",
              "granted": "2026-01-01", "expires": "2026-01-31"}  # fmt: skip
    house.policy["waivers"] = [waiver] * waived
    release = approved(house, failing("k_anonymity"))
    with golden.raises(SluiceError):
        bare(publish)(release)
    assert (release.state, house.shelf) == (State.APPROVED, [])


def test_bytes_that_were_changed_in_the_vault_after_their_hash_was_taken_do_not_appear(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = approved(house, Finding(rule="k_anonymity", verdict=Verdict.PASS, says="Fine."))
    file = release.vault.path(subject(release).csv, ".csv")
    on_the_shelf = shelf.publish

    def late(*arguments: Any, **options: Any) -> Path:
        file.write_bytes(b"age\r\n33\r\n")
        return on_the_shelf(*arguments, **options)

    monkeypatch.setattr(shelf, "publish", late)
    with golden.raises(DataError):
        bare(publish)(release)
    assert house.shelf == []


def test_the_approved_bytes_do_appear(house: House) -> None:
    release = approved(house, Finding(rule="k_anonymity", verdict=Verdict.PASS, says="Fine."))
    folder = bare(publish)(release)
    assert (folder / "people-puf.csv").stat().st_size > 1000
    assert json.loads((folder / "manifest.json").read_text())["release"] == release.id


# -- what the published bytes reveal


def test_a_category_that_no_released_record_has_is_in_no_published_file(house: House) -> None:
    """Parquet keeps dictionaries of categories, with those that suppression has emptied if one is careless."""
    house.data.loc[3, "town"] = CANARY
    house.variable("town")["role"] = "quasi_identifier"
    house.policy["rules"] = house.policy["rules"][:1]
    house.definition["plan"] = [
        {"method": "removal", "columns": ["household", "income"]},
        {"method": "global_recoding", "columns": ["age"], "bins": [40, 60]},
        {"method": "local_suppression", "columns": ["age", "sex", "region", "town"], "k": 5},
    ]
    release = staged(house)
    release.record(State.VALIDATED)
    masked = bare(mask)(release)
    vault = release.vault
    for path in (vault.path(masked.sha256, ".parquet"), vault.path(masked.csv_sha256, ".csv")):
        assert CANARY.encode() not in path.read_bytes()
        assert b"Cresthill" in path.read_bytes() or path.suffix == ".parquet"
    assert CANARY not in str(described_variables(release.product))
