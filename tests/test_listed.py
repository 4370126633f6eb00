import pytest

from tests.listed import all_listed


def test_what_is_missing_and_what_is_gone_is_named_with_the_place() -> None:
    all_listed(["a", "b"], {"b": 1, "a": 2}, "LIST of list.py")
    with pytest.raises(AssertionError, match=r"^Add b, c to LIST of list\.py; see CONTRIBUTING\.md\."):
        all_listed(["a"], ["a", "c", "b"], "LIST of list.py")
    with pytest.raises(AssertionError, match=r"^There is no d: take it out of LIST of list\.py\."):
        all_listed(["a", "d"], ["a"], "LIST of list.py")
