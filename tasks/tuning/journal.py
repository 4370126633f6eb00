"""The journal of a search, a line for each trial, so that a stopped search resumes where it was; and what it found:
all trials, those that pass, the front, and how near the others came.

It holds what documents say and aggregates, as a report does, and no value of the data. The workspace keeps it, closed
to other accounts.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, isnan
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sluice.ground.durable import make_folder
from sluice.ground.errors import SluiceError
from tasks.tuning.trial import Miss, Outcome


class TrialRecord(BaseModel):
    """One trial: which point of the space, and how it ended.

    point : place -> value; JSON
    same  : the number of the trial that had this plan before; it is not tried again
    """

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    number: int
    point: dict[str, Any]
    outcome: Outcome
    same: int | None = None


class Journal:
    """The trials of one search, in a file; or in memory alone where there is none."""

    def __init__(self, path: Path | None = None) -> None:
        """Open it. Raises SluiceError for a file that is damaged in the middle; an unfinished last line is dropped."""
        self._path = path
        self._known: dict[int, TrialRecord] = {}
        if path is None:
            return
        make_folder(path.parent, 0o700)
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return
        whole = 0  # bytes of the lines that were written to their end
        for place, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                break  # the process was killed while it wrote
            try:
                record = TrialRecord.model_validate_json(line)
            except ValidationError:
                raise SluiceError(f"{path}: line {place} is damaged. Remove the file to begin anew.") from None
            self._known[record.number] = record
            whole += len(line)
        os.truncate(path, whole)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, number: int) -> TrialRecord | None:
        """The trial of this number; None where the search has none."""
        return self._known.get(number)

    def find(self, number: int, point: Mapping[str, Any]) -> TrialRecord | None:
        """The trial of this number, if it was of this point; else nothing is known of it."""
        known = self._known.get(number)
        return known if known is not None and _text(known.point) == _text(point) else None

    def add(self, record: TrialRecord) -> None:
        """Write a trial down."""
        self._known[record.number] = record
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(record.model_dump_json() + "\n")


def _text(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True, default=list)


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
