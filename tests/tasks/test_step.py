"""A step that fails carries nothing of the exception on, whatever kind it is and wherever it arose."""

import pickle
import traceback
from asyncio import CancelledError
from collections.abc import Callable
from typing import Any

import pytest
from prefect.exceptions import Pause

from sluice.ground.errors import DataError
from tasks.failure import StepFailed, explain
from tasks.release.running_step import listening
from tasks.step import _Sealed, quietly
from tests.golden import golden

VALUE = "canary4711"


class Panic(BaseException):
    """As libraries in other languages raise: not an Exception."""


def raising(error: BaseException, cause: BaseException | None = None) -> Callable[[], None]:
    def act() -> None:
        raise error from cause

    return act


def failure_of(act: Callable[..., Any]) -> StepFailed:
    with pytest.raises(StepFailed) as caught:
        quietly("mask", act)()
    return caught.value


@pytest.mark.parametrize("error", [ValueError(VALUE), KeyError(VALUE), Panic(VALUE), MemoryError(VALUE)], ids=type)
def test_an_exception_leaves_its_text_behind(error: BaseException) -> None:
    failure = failure_of(raising(error, KeyError(VALUE)))
    assert str(failure) == f"mask:{type(error).__name__}"
    assert (failure.__cause__, failure.__context__) == (None, None)
    told = "".join(traceback.format_exception(failure)) + failure.detail + repr(failure) + str(failure.__dict__)
    assert VALUE not in told
    assert VALUE.encode() not in pickle.dumps(failure)


def test_the_caller_gets_the_words_of_an_error_of_ours_and_prefect_does_not() -> None:
    failure = failure_of(raising(DataError("no column 'income'")))
    assert failure.detail == "no column 'income'"
    assert str(failure) == "mask:DataError"
    restored = pickle.loads(pickle.dumps(failure))
    assert (str(restored), restored.detail) == ("mask:DataError", "")


def test_a_failure_within_a_failure_keeps_its_step() -> None:
    failure = failure_of(quietly("write", raising(ValueError(VALUE))))
    assert str(failure) == "write:ValueError"
    assert failure.__context__ is None


@pytest.mark.parametrize("signal", [KeyboardInterrupt(), SystemExit(1), CancelledError(), Pause()], ids=type)
def test_a_signal_is_no_failure(signal: BaseException) -> None:
    with pytest.raises(type(signal)) as caught:
        quietly("mask", raising(signal))()
    assert caught.value is signal


def test_an_exception_that_cannot_be_explained_leaks_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong while a failure is explained must not drag the first exception along."""
    monkeypatch.setattr("tasks.step.explain", raising_with_argument(OSError("stderr is closed")))
    with pytest.raises(OSError, match="stderr is closed") as caught:
        quietly("mask", raising(ValueError(VALUE)))()
    assert caught.value.__context__ is None


def raising_with_argument(error: Exception) -> Callable[[object], str]:
    def act(_: object) -> str:
        raise error

    return act


def test_an_explanation_names_the_place_and_no_value() -> None:
    try:
        int(VALUE)
    except ValueError as error:
        told = explain(error)
    golden.words(told)
    assert VALUE not in told


def test_prefect_sees_nothing_of_the_arguments() -> None:
    assert VALUE not in repr(_Sealed((VALUE,), {"value": VALUE}))


def test_listeners_hear_of_the_end_even_of_a_step_that_fails() -> None:
    heard: list[tuple[str, bool]] = []
    with listening(lambda step, seconds: heard.append((step, seconds is not None))):
        failure_of(raising(ValueError()))
    assert heard == [("mask", False), ("mask", True)]
    quietly("mask", lambda: None)()
    assert len(heard) == 2  # nobody listens any more
