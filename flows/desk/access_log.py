"""The record of who read, downloaded and did what at the desk, and when: a file of the workspace that only grows.

What somebody decided does not stand in it, nor their words: whoever reads it may be the next to decide.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sluice.ground.durable import disk_of


@dataclass(frozen=True)
class Access:
    at: str
    who: str
    did: str  # such as 'read', 'downloaded', 'refused'
    what: str  # such as 'report'
    release: str = ""
    sha256: str = ""  # of what was downloaded


@dataclass(frozen=True)
class AccessLog:
    file: Path

    def record(self, who: str, did: str, what: str, release: str = "", sha256: str = "") -> None:
        """Write a line down to the disk before anything is shown. Raises DataError, OSError where that fails."""
        access = Access(datetime.now(UTC).isoformat(timespec="milliseconds"), who, did, what, release, sha256)
        line = json.dumps(asdict(access), ensure_ascii=True) + "\n"
        with disk_of("the workspace's disk"):
            handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, line.encode("ascii"))  # one call: lines of two requests do not mix
                os.fdatasync(handle)
            finally:
                os.close(handle)

    def newest(self) -> Iterator[Access]:
        """All of it, the latest first; a line that is none, as a full disk leaves it, is left out."""
        if not self.file.exists():
            return
        for line in reversed(self.file.read_text("ascii", errors="replace").splitlines()):
            try:
                yield Access(**json.loads(line))
            except (ValueError, TypeError):
                continue
