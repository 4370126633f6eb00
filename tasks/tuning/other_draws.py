"""Other draws: a release draws its seed anew, so a plan that passed today may be stopped next month."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.custody.workspace import open_workspace
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.release_documents import load_documents
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search_context import staged_records
from tasks.tuning.space import LossWeights
from tasks.tuning.trial import Outcome, try_plan

_SEED, _OTHERS = 1, 2**44 + 2  # apart from those of searches, and of what they judge again
DRAWS = 10
"""By which a plan is judged before anybody recommends it, where there is time."""
MAY_FALL = 1
"""Of so many draws; of fewer none: whether it was by chance would not be known."""


@dataclass(frozen=True)
class OtherDraws:
    """By how many of how many draws a plan passes, and which rules stop it by the others, those that stop most first.

    A draw that stops is not judged by what comes later in the order rules, utility, attacks.
    """

    passed: int
    of: int
    stopped_by: Mapping[str, int]
    first_stopped: Outcome | None = None

    @property
    def has_room(self) -> bool:
        """Whether it passes by 9 of 10 draws, or by all of as many as there was time for."""
        return self.of > 0 and self.of - self.passed <= may_fall(self.of)

    def as_json(self) -> dict[str, Any]:
        """For programs: counts and rules."""
        return {"passed": self.passed, "of": self.of, "stopped_by": dict(self.stopped_by)}

    @property
    def says(self) -> str:
        """In a sentence."""
        rules = ", ".join(f"{rule} ({count})" for rule, count in self.stopped_by.items())
        stopped = f"; the others are stopped by {rules}" if rules else ""
        return f"It passes in {self.passed} of {self.of} other draws{stopped}."


def other_draws(
    definition: RecordsDefinition, records: RecordsAtHand, draws: int, seed: int = _SEED,
    weights: LossWeights | None = None, told: Callable[[int], None] = lambda done: None,
    time_left: Callable[[], bool] = lambda: True, until_known: bool = False,
) -> OtherDraws:  # fmt: skip
    """The plan of a definition on the same records by so many draws. The same arguments give the same.

    seed : of the first of them
    told : called with how many were made
    time_left : asked before each; where there is none, the draws are fewer
    until_known : whether it ends as soon as more fell than may
    cost : a judgement of a release for each that passes
    """
    stopped: Counter[str] = Counter()
    passed = made = 0
    first: Outcome | None = None
    for draw in range(draws):
        if not time_left() or (until_known and made - passed > MAY_FALL):
            break
        outcome = try_plan(definition, records, (seed, _OTHERS, draw), weights or LossWeights())
        passed += outcome.end == "passes"
        stopped.update({miss.rule for miss in outcome.misses} if outcome.end != "passes" else ())
        first = outcome if first is None and outcome.end != "passes" else first
        made += 1
        told(made)
    return OtherDraws(passed, made, dict(sorted(stopped.items(), key=lambda each: (-each[1], each[0]))), first)


def may_fall(draws: int) -> int:
    """Of so many draws, how many a plan may fall by that has room."""
    return MAY_FALL if draws >= DRAWS else 0


def other_draws_for(path: Path, written: RecordsDefinition, draws: int, told: Callable[[int], None]) -> OtherDraws:
    """The same for the definition in a file and its data, as they are now. Earlier publications are not looked at.

    raises : DocumentError, DataError
    """
    product = load_documents(Records, path, written, open_workspace())
    _, records = staged_records(product)
    return other_draws(product.definition, records, draws, told=told)
