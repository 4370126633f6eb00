from sluice.masking import RankSwapping, Removal
from sluice.masking.transparency import attacks_on


def test_steps_of_one_method_are_attacked_together() -> None:
    steps = [
        Removal(columns=("name",)),
        RankSwapping(columns=("a", "b"), window=0.1),
        RankSwapping(columns=("c",), window=0.2),
    ]
    (attack,) = attacks_on(steps)
    assert attack.method == "rank_swapping"
    assert attack.attack.columns == ("a", "b", "c")
    assert "10 %" in attack.attack.knows
    assert "20 %" in attack.attack.knows


def test_a_plan_without_a_known_attack_has_none() -> None:
    assert attacks_on([Removal(columns=("name",))]) == []
