"""Rules as a policy writes them."""

from policies.rules.dominance import Dominance
from policies.rules.k_anonymity import KAnonymity
from policies.rules.l_diversity import LDiversity
from policies.rules.minimum_frequency import MinimumFrequency
from policies.rules.p_percent import PPercent
from policies.rules.sample_uniques_share import SampleUniquesShare
from policies.rules.t_closeness import TCloseness
from tests.golden import golden
from tests.policies.rules.written_rules import load, refusal


def test_every_rule_loads_by_its_name_with_its_defaults() -> None:
    assert load(rule="k_anonymity", k=5) == KAnonymity(k=5, missing_matches="category", columns=None)
    assert load(rule="l_diversity", l=2) == LDiversity(l=2, variant="distinct")
    assert load(rule="t_closeness", t=0.2) == TCloseness(t=0.2, ground_distance=None)
    assert load(rule="sample_uniques_share", at_most=0) == SampleUniquesShare(at_most=0)
    assert load(rule="minimum_frequency", n=3) == MinimumFrequency(n=3)
    assert load(rule="dominance", n=1, k=75) == Dominance(n=1, k=75)
    assert load(rule="p_percent", p=10) == PPercent(p=10)


def test_an_unknown_rule_is_refused_with_the_nearest_name() -> None:
    said = refusal(rule="k_anonimity", k=5)
    golden.words(said)
    assert "Did you mean 'k_anonymity'?" in said
