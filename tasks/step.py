"""What every step of the flow has in common: it fails without a word about the data.

Prefect stores the text of an exception in states, logs and events, and pickles the exception itself. More people can
read those than may read the records. So a step that fails raises `StepFailed`, whose stored form is only the step's
name and the exception's type; what a person needs to mend it goes to the log, and to the caller in the same process
through `detail`.
"""

import logging
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from sluice.ground.log import log
from sluice.ground.machine import give_back_memory
from tasks.failure import StepFailed, explain
from tasks.flow_run import in_a_run, prefect_signals
from tasks.release.decisions.signing_in import account
from tasks.release.documented_release import Release
from tasks.release.release_documents import Documents
from tasks.release.running_step import announced

P = ParamSpec("P")
R = TypeVar("R")
# No failures: somebody stops the process.
_SIGNALS: tuple[type[BaseException], ...] = (KeyboardInterrupt, SystemExit, GeneratorExit, CancelledError)


def quietly(name: str, function: Callable[P, R]) -> Callable[P, R]:
    """`function`, with any exception replaced by a StepFailed that carries nothing of it."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with announced(name):
                try:
                    return function(*args, **kwargs)
                finally:
                    give_back_memory()
        except _SIGNALS + prefect_signals():
            raise
        except BaseException as error:  # libraries written in other languages raise what is not even an Exception
            broken = error
        # Raised outside the except block: a chained exception would be stored with it.
        raise _failure(name, broken, args)

    return run


def _failure(name: str, error: BaseException, args: tuple[Any, ...]) -> StepFailed:
    if isinstance(error, StepFailed):  # of a step within
        return StepFailed(error.summary, error.detail)
    kind = type(error).__name__
    failure = StepFailed(f"{name}:{kind}", explain(error))
    log("step fails", logging.ERROR, step=name, detail=failure.detail)
    _record(args, name, kind)
    return failure


def _record(args: tuple[Any, ...], name: str, kind: str) -> None:
    """The failure in the ledger, under the release or, before there is one, the definition. As far as it can be."""
    body = {"step": name, "error": kind}
    with suppress(Exception):
        match args[0] if args else None:
            case Release() as release:
                release.record("failed", **body)
            case Documents() as documents:  # whose name may be the id of a release that has a history of its own
                documents.workspace.ledger.append(documents.definition.name, "failed", account(), body, expect={None})


class _Sealed:
    """The arguments of a step, which Prefect would otherwise look into: it walks through every model and list."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs

    def __repr__(self) -> str:
        return "<sealed>"


def step(function: Callable[P, R]) -> Callable[P, R]:
    """In a flow run, a task that keeps nothing: no argument, no result, no cache, no prints, no exception text."""
    name = function.__name__
    quiet = quietly(name, function)

    def unsealed(sealed: _Sealed) -> R:
        return quiet(*sealed.args, **sealed.kwargs)

    @cache
    def prefect_task() -> Callable[[_Sealed], R]:
        from prefect import task
        from prefect.cache_policies import NO_CACHE

        return task(name=name, persist_result=False, cache_policy=NO_CACHE, log_prints=False)(unsealed)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not in_a_run():  # no server is there to keep a run of it
            return quiet(*args, **kwargs)
        return prefect_task()(_Sealed(args, kwargs))

    return run
