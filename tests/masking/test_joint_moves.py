"""Who comes into a series, leaves it or changes in it, and whom they take along."""

from collections.abc import Mapping

import numpy as np
import pytest

from sluice.ground.arrays import BoolArray
from sluice.masking.joint_moves import Edition, stay_together

PEOPLE = 60
CLASSES = np.repeat([0, 1, 2], 20)
TOWNS = np.arange(PEOPLE) % 4
ORDER = np.random.default_rng(1).permutation(PEOPLE)


def edition(*gone: int, **values: "np.typing.NDArray[np.int64]") -> Edition:
    """All people but some."""
    classes = CLASSES.copy()
    classes[list(gone)] = -1
    return Edition(classes, {"town": TOWNS, **values})


def left(kept: BoolArray, now: Edition) -> dict[int, int]:
    """How many of each class could be in an edition, and are not."""
    gone = (now.classes >= 0) & ~kept
    return {label: int((gone & (label == CLASSES)).sum()) for label in range(3) if (gone & (label == CLASSES)).any()}


def test_nobody_moves_and_everybody_stays() -> None:
    assert stay_together([edition(), edition()], edition(), ORDER, 5).all()


def test_who_leaves_alone_takes_four_others_of_the_class_along_who_live_elsewhere() -> None:
    now = edition(3)
    kept = stay_together([edition()], now, ORDER, 5)
    assert left(kept, now) == {0: 4}
    assert len(np.unique(TOWNS[:20][~kept[:20]])) > 1


@pytest.mark.parametrize("gone", [(1, 2, 3, 4, 5), ()])
def test_whole_groups_take_nobody_along(gone: tuple[int, ...]) -> None:
    now = edition(*gone)
    assert left(stay_together([edition()], now, ORDER, 5), now) == {}


def test_five_who_leave_one_town_take_somebody_of_another_one_along() -> None:
    now = edition(0, 4, 8, 12, 16)
    kept = stay_together([edition()], now, ORDER, 5)
    assert set(left(kept, now)) == {0}
    assert len(np.unique(TOWNS[:20][~kept[:20]])) > 1


def test_where_nearly_all_have_the_value_it_tells_nothing_of_who_leaves() -> None:
    one, same = np.zeros(PEOPLE, np.int64), np.arange(PEOPLE) == PEOPLE - 1
    before, now = (
        Edition(one, {"town": same.astype(int)}),
        Edition(one - (np.arange(PEOPLE) < 5), {"town": same.astype(int)}),
    )
    assert stay_together([before], now, ORDER, 5).sum() == PEOPLE - 5


def test_newcomers_wait_until_so_many_of_a_class_came() -> None:
    before = edition(*range(10), 20, 21, 22)
    assert left(stay_together([before], edition(), ORDER, 5), edition()) == {1: 3}
    assert left(stay_together([before], edition(), ORDER, 5, newcomers=11), edition()) == {0: 10, 1: 3}


def test_who_came_together_and_leaves_again_is_told_apart_from_those_who_were_there() -> None:
    """Of ten newcomers one leaves: four of the ten go along, not four of all; who are left are five."""
    editions = [edition(*range(10)), edition()]
    now = edition(2)
    gone = np.flatnonzero((now.classes >= 0) & ~stay_together(editions, now, ORDER, 5))
    assert (len(gone), gone.max() < 10) == (4, True)


def test_where_fewer_would_be_left_than_may_be_alone_all_of_them_leave() -> None:
    now = edition(*range(17))
    kept = stay_together([edition()], now, ORDER, 5)
    assert left(kept, now) == {0: 3}


def test_who_moves_to_another_class_alone_leaves_with_others_of_the_old_one() -> None:
    moved = CLASSES.copy()
    moved[3] = 1
    kept = stay_together([edition()], Edition(moved, {"town": TOWNS}), ORDER, 5)
    assert not kept[3]
    assert ((~kept).sum(), kept[20:].all()) == (5, True)


@pytest.mark.parametrize(("changed", "stay"), [(1, PEOPLE - 5), (6, PEOPLE), (PEOPLE, PEOPLE)])
def test_whose_value_changed_alone_leaves_with_others(changed: int, stay: int) -> None:
    """Not where six of a class changed in several ways, nor where everybody did."""
    before = np.arange(PEOPLE) % 7
    after = np.where(np.arange(PEOPLE) < changed, (before + 1) % 7, before)
    assert stay_together([edition(income=before)], edition(income=after), ORDER, 5).sum() == stay


def test_no_order_of_the_people_decides_who_goes_along() -> None:
    now, mixed = edition(3, 44), np.random.default_rng(2).permutation(PEOPLE)

    def of(each: Edition) -> Edition:
        values: Mapping[str, np.typing.NDArray[np.int64]] = {name: v[mixed] for name, v in each.values.items()}
        return Edition(each.classes[mixed], values)

    kept = stay_together([edition()], now, ORDER, 5)
    assert (stay_together([of(edition())], of(now), ORDER[mixed], 5) == kept[mixed]).all()


def test_a_class_that_is_left_with_one_sensitive_value_leaves() -> None:
    one, ill = np.zeros(PEOPLE, np.int64), (np.arange(PEOPLE) == 0).astype(int)
    before, now = Edition(one, {"ill": ill}), Edition(one - (np.arange(PEOPLE) < 5), {"ill": ill})
    assert stay_together([before], now, ORDER, 5).sum() == PEOPLE - 5
    assert not stay_together([before], now, ORDER, 5, sensitive=["ill"]).any()
