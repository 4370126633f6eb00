"""Judgement of a masked file: what a file must face when nobody says whose rows are whose."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import yaml

from policies.approvals import Approvals
from policies.policy import Policy
from policies.rules.participation_attacks import SubsetInference
from policies.rules.rules import PolicyRule
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.rule import Rule
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.ground.verdict import Verdict
from sluice.masking.moved_blocks import Block
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.classes.microdata_rule import MicrodataRule
from sluice.risk.classes.suda import Suda
from tasks.release.records.record_findings import against_reference, check_masked_and_locate, reference_findings
from tests.red_team.files import files_of

BOTH = {"subset_inference", "learned_linkage"}


def test_without_pairs_intruders_who_learn_are_missed_and_a_person_decides() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.normal(size=1200) for name in "abc"})
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for name in "abc"}
    others = pd.DataFrame({name: rng.normal(size=1200) for name in "abc"})
    findings, _ = against_reference(ReferenceStandard(), files_of(frame, others, variables, paired=False))
    (missed,) = [finding for finding in findings if finding.rule == "learned_linkage"]
    assert (missed.verdict, missed.binding, missed.completed) == (Verdict.REVIEW, True, 0)
    paired, _ = against_reference(ReferenceStandard(), files_of(frame, others, variables))
    assert {finding.verdict for finding in paired if finding.rule == "learned_linkage"} == {Verdict.PASS}


def test_what_an_intruder_finds_by_variables_that_moved_together_has_the_code_of_any_other() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.normal(size=60) for name in "abc"})
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for name in "abc"}
    files = files_of(frame, frame, variables, blocks=(Block(("a", "b"), np.arange(60)),))
    findings, _ = against_reference(ReferenceStandard(), files)
    found = {finding.scope: finding for finding in findings if finding.rule == "learned_linkage"}
    assert {finding.code for finding in found.values()} == {"learned_linkage.not_played"}
    assert [said.code for said in found["a, b"].notes] == ["learned_linkage.of_block"]
    assert found["a, b"].says.endswith("Looked at were a, b alone, which were moved to another record together.")


def test_a_file_without_pairs_is_judged_by_what_stays_together() -> None:
    rng = np.random.default_rng(1)
    people, others, strangers = (pd.DataFrame(rng.normal(size=(1_200, 4)), columns=list("abcd")) for _ in range(3))
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for name in "abcd"}
    torn = people.assign(c=rng.permutation(people["c"]), d=rng.permutation(people["d"])).sample(frac=1, random_state=2)
    for masked, verdict in ((torn, Verdict.FAIL), (strangers, Verdict.PASS)):
        files = files_of(people, masked.reset_index(drop=True), variables, paired=False)
        found = {finding.rule: finding for finding in against_reference(ReferenceStandard(), files)[0]}
        assert (found["subset_inference"].verdict, found["subset_inference"].binding) == (verdict, True)
        assert found["subset_inference"].limit == 0.09  # as many as may be found
        assert found["learned_linkage"].verdict is Verdict.REVIEW
    # A policy that plays the attack itself, against people set aside, asks for no decision.
    held = replace(files, holdout=others, recoded_holdout=others)
    for attack, asked in ((SubsetInference(limit=0.05), set()), (SubsetInference(limit=0.05, binding=False), BOTH)):
        rules = {finding.rule for finding in reference_findings(ReferenceStandard(), held, [], [attack])}
        assert rules & BOTH == asked
    rules = {finding.rule for finding in reference_findings(ReferenceStandard(), files, [], [attack])}
    assert rules & BOTH == BOTH


def test_one_thread_and_four_find_the_same_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(3)
    people = pd.DataFrame(draws.normal(size=(1_000, 3)), columns=list("abc"))
    masked = people + draws.normal(scale=0.3, size=people.shape)
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for name in "abc"}
    found = []
    for threads in (1, 4):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", threads)
        findings, curves = against_reference(ReferenceStandard(), files_of(people, masked, variables))
        found.append(([finding.model_dump() for finding in findings], [repr(curve) for curve in curves]))
    assert found[0] == found[1]


@pytest.mark.parametrize(("k", "verdict"), [(60, Verdict.PASS), (61, Verdict.FAIL)])
def test_without_a_released_key_all_records_are_one_group_however_it_is_said(k: int, verdict: Verdict) -> None:
    """Keys that are all '*', all missing or left out tell the same: nothing."""
    people = pd.DataFrame({"sex": pd.Categorical(["m", "f"] * 30), "ill": pd.Categorical(list("abcdef") * 10)})
    sensitive = {"ill": Variable(name="ill", kind=Kind.NOMINAL, role=Role.SENSITIVE)}
    key = Variable(name="sex", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, nullable=True)
    rules = (KAnonymity(k=k), LDiversity(l=3), Suda(sampling_fraction=0.1, above=0.1))
    found = []
    for value in ("*", None):
        masked = people.assign(sex=pd.Categorical([value] * 60, categories=["*"]))
        found.append(_masked_findings(rules, people, masked, {"sex": key, **sensitive}, {"sex": key, **sensitive}))
    found.append(_masked_findings(rules, people, people[["ill"]], {"sex": key, **sensitive}, sensitive))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == ("k_anonymity", verdict, 60)
    assert {each for _, each, _ in found[0][1:]} == {Verdict.PASS}
    renamed = people.set_axis(["geschlecht", "ill"], axis=1)
    (other_name,) = _masked_findings((KAnonymity(k=k),), people, renamed, {"sex": key, **sensitive}, sensitive)
    assert other_name[1] is Verdict.UNKNOWN, "a column under another name may be the key"
    (undeclared,) = _masked_findings((KAnonymity(k=k),), people, people, {}, {})
    assert undeclared[1] is Verdict.UNKNOWN  # nobody said what people could be recognised by


RULES = [each for each in get_args(get_args(PolicyRule)[0]) if issubclass(each, MicrodataRule)]


@pytest.mark.parametrize("records", [1, 7, 60])
@pytest.mark.parametrize("of", RULES, ids=lambda of: of.model_fields["rule"].default)
def test_every_rule_takes_blank_keys_stars_and_keys_that_are_left_out_for_the_same(
    of: type[MicrodataRule], records: int
) -> None:
    rule = of.model_validate(yaml.safe_load(of.example))
    keys = {name: Variable(name=name, kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, nullable=True) for name in "ab"}
    sensitive = {"ill": Variable(name="ill", kind=Kind.NOMINAL, role=Role.SENSITIVE)}
    place = np.arange(records)
    people = pd.DataFrame(
        {name: pd.Categorical((place % m).astype("str")) for name, m in (("a", 2), ("b", 5), ("ill", 4))}
    )
    stars, blanks = (
        _masked_findings(
            (rule,), people, people.assign(**dict.fromkeys(keys, pd.Categorical([value] * records, categories=["*"]))),
            keys | sensitive, keys | sensitive,
        )
        for value in ("*", None)
    )  # fmt: skip
    assert stars == blanks == _masked_findings((rule,), people, people[["ill"]], keys | sensitive, sensitive)


def _masked_findings(
    rules: tuple[Rule, ...], original: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> list[tuple[str, Verdict, float | None]]:
    policy = Policy(name="p", version="1", rules=rules, approvals=Approvals(count=1, identity="declared"))
    files = replace(files_of(original, masked, dict(variables)), released=released)
    return [(each.rule, each.verdict, each.observed) for each in check_masked_and_locate(policy, files)]
