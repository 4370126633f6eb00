"""The lock of a release: one process at a time carries out what people decided on it.

The run that waited, the command of whoever approved last and the doctor may come to it at the same moment. Each of them
finds the approvals complete; who has to wait then finds it published. The lock is of the operating system (`flock`), on
a file in the workspace: it ends with the process, however that ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from sluice.ground.durable import locked
from sluice.ground.log import log
from tasks.release.release import DocumentedRelease
from tasks.release.waiting import notes


@contextmanager
def alone_with_release(release: DocumentedRelease) -> Iterator[None]:
    """Wait until no other process carries out what was decided on this release, and let none begin meanwhile."""
    says = "another process carries out what was decided on it"
    waits = partial(log, "waits", release=release.id, detail=says)
    with locked(notes(release.product.workspace) / f"{release.id}.lock", waits=waits):
        yield
