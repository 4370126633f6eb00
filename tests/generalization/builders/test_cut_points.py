"""sluice.generalization.builders.number_groups."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import CutPoints
from sluice.ground.variables import Kind, Variable

AGE = Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=99)


def test_a_new_interval_begins_at_each_cut_point() -> None:
    rows = CutPoints(cuts=((20, 40, 65), (65,))).build(AGE).rows
    assert rows["19"] == ("under 20", "under 65", "*")
    assert rows["20"] == ("20 to 39", "under 65", "*")
    assert rows["65"] == ("65 and over", "65 and over", "*")


@given(st.sets(st.integers(-5, 105), min_size=1, max_size=12), st.data())
def test_values_share_a_group_where_no_cut_lies_between_them(cuts: set[int], data: st.DataObject) -> None:
    wide = data.draw(st.sets(st.sampled_from(sorted(cuts)), min_size=1))
    built = CutPoints(cuts=(tuple(sorted(cuts)), tuple(sorted(wide)))).build(AGE)
    one, other = sorted((data.draw(st.integers(0, 99)), data.draw(st.integers(0, 99))))
    for level, points in enumerate((cuts, wide), start=1):
        groups = built.at_level(level)
        apart = any(one < point <= other for point in points)
        assert (groups[str(one)] == groups[str(other)]) is not apart


def test_cut_points_beyond_the_domain_leave_one_group() -> None:
    assert set(CutPoints(cuts=((200,),)).build(AGE).rows.values()) == {("under 200",)}
