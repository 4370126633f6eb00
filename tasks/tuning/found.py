"""What a search found: all of its trials, those that pass, the front, and how near the others came."""

from dataclasses import dataclass
from math import inf, isfinite, isnan

from tasks.tuning.journal import TrialRecord
from tasks.tuning.trial import Miss


@dataclass(frozen=True)
class Found:
    """All trials of a search, in order."""

    trials: tuple[TrialRecord, ...] = ()

    @property
    def attempts(self) -> int:
        """How often a plan met the gate: plans that came twice met it once."""
        return sum(trial.same is None for trial in self.trials)

    @property
    def passing(self) -> list[TrialRecord]:
        """Those that pass, least loss first, each plan once."""
        found = [trial for trial in self.trials if trial.outcome.end == "passes" and trial.same is None]
        return sorted(found, key=lambda trial: (_known(trial.outcome.loss), trial.number))

    @property
    def best(self) -> TrialRecord | None:
        return next(iter(self.passing), None)

    @property
    def candidates(self) -> list[TrialRecord]:
        """Those that pass, and then those that were not judged further as they lose more; of each least loss first."""
        found = [t for t in self.trials if t.outcome.end in ("passes", "dearer") and t.same is None]
        return sorted(
            found, key=lambda trial: (trial.outcome.end != "passes", _known(trial.outcome.loss), trial.number)
        )

    @property
    def front(self) -> list[TrialRecord]:
        """Those that pass and of which no other loses less and keeps a larger margin; least loss first."""
        front: list[TrialRecord] = []
        for trial in self.passing:
            margin = trial.outcome.margin if isfinite(trial.outcome.margin) else 1.0
            if all(margin > other.outcome.margin for other in front):
                front.append(trial)
        return front

    @property
    def nearest(self) -> dict[str, tuple[TrialRecord, Miss]]:
        """Rule -> the trial that fell by this rule alone, or with others, and came nearest to its limit."""
        found: dict[str, tuple[TrialRecord, Miss]] = {}
        for trial in self.trials:
            for miss in trial.outcome.misses:
                key = (len(trial.outcome.misses), miss.far)
                if miss.rule not in found or key < (
                    len(found[miss.rule][0].outcome.misses), found[miss.rule][1].far
                ):  # fmt: skip
                    found[miss.rule] = (trial, miss)
        return found


def _known(loss: float) -> float:
    """What sorts last where a loss is not known, or not told."""
    return inf if isnan(loss) else loss
