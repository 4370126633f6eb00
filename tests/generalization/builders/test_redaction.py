"""sluice.generalization.builders.category_groups."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.category_groups import Redaction
from sluice.ground.variables import Kind, Variable


def codes(*categories: str) -> Variable:
    return Variable(name="zip", kind=Kind.NOMINAL, categories=categories)


def test_zip_codes_lose_a_character_at_each_level() -> None:
    # Sweeney (2002), the hierarchy of ZIP codes: 02138 becomes 0213* and 021**; leading zeros stay
    rows = Redaction(redaction="right").build(codes("02138", "02139", "02141")).rows
    assert rows["02138"] == ("0213*", "021**", "02***", "0****", "*****")
    assert rows["02139"][0] == rows["02138"][0] != rows["02141"][0]
    left = Redaction(redaction="left", levels=(2, 4), character="x").build(codes("02138", "14139")).rows
    assert left["02138"] == ("xx138", "xxxx8", "*")


def test_a_shorter_code_lies_with_those_that_begin_alike() -> None:
    rows = Redaction(redaction="right", levels=(1,)).build(codes("K20", "K201", "K21")).rows
    assert rows["K20"] == rows["K201"] == ("K20*", "*")


@given(st.sets(st.text("ab01", min_size=1, max_size=5), min_size=1, max_size=12), st.sampled_from(["right", "left"]))
def test_codes_share_a_group_where_what_is_kept_is_alike(found: set[str], end: str) -> None:
    built = Redaction.model_validate({"redaction": end}).build(codes(*sorted(found)))
    longest = max(map(len, found))
    for level in range(1, built.depth + 1):
        groups = built.at_level(level)
        for one in found:
            for other in found:
                kept = [
                    [(code if end == "right" else code[::-1])[place : place + 1] for place in range(longest - level)]
                    for code in (one, other)
                ]
                assert (groups[one] == groups[other]) is (kept[0] == kept[1])
