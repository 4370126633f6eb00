"""The journal of a search: a line for each trial, so that a search that was stopped goes on where it stood.

It holds what documents say and aggregates, as a report does, and no value of the data. The workspace keeps it, closed
to other accounts.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sluice.ground.durable import make_folder
from sluice.ground.errors import SluiceError
from tasks.tuning.trial import Outcome


class TrialRecord(BaseModel):
    """One trial: which point of the space, and how it ended.

    point : place -> value; JSON
    same  : the number of the trial that had this point before; it is not tried again
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
