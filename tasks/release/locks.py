"""Locks of the operating system (`flock`), on files in the workspace: they end with their process, however that ends.

Of a release: one process at a time carries out what people decided on it. The run that waited, the command of whoever
approved last and the doctor may come to it at the same moment. Each of them finds the approvals complete; who has to
wait then finds it published.

Of a data set: one run at a time reads and judges it, whatever its definition is called. Prefect's own limits are by
definition, and hold only where there is a server. Two definitions of one data set, such as a file of records and tables
of it, would be judged beside what was published before either, and not beside each other.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from sluice.ground.durable import locked, make_folder
from sluice.ground.errors import SluiceError
from sluice.ground.log import log
from sluice.sources.permission import meaning_of
from tasks.release.documented_release import DocumentedRelease
from tasks.release.release_definition import Definition
from tasks.release.release_documents import Documents
from tasks.release.run_notes import notes


@contextmanager
def alone_with_release(release: DocumentedRelease) -> Iterator[None]:
    """Wait until no other process carries out what was decided on this release, and let none begin meanwhile."""
    says = "another process carries out what was decided on it"
    waits = partial(log, "waits", release=release.id, detail=says)
    with locked(notes(release.product.workspace) / f"{release.id}.lock", waits=waits):
        yield


@contextmanager
def alone_with_data(product: Documents[Definition]) -> Iterator[None]:
    """Wait until no other run reads or judges these data, and let none begin meanwhile.

    The data are the same where the contracts name one data set, or the definitions one file or one table of a
    connection. Cost: as long as the others take.
    """
    folder = product.workspace.home / "data_sets"
    make_folder(folder, 0o700)
    says = f"{product.definition.name} waits for another run that reads or judges the same data"
    with ExitStack() as locks:
        for name in sorted(_names(product)):  # all runs in one order, so that no two wait for each other
            locks.enter_context(locked(folder / f"{name}.lock", waits=partial(log, "waits", detail=says)))
        yield


def _names(product: Documents[Definition]) -> set[str]:
    """Of the locks: keyed hashes, as the name of a file or a connection is nothing to build a path of."""
    source = product.definition.source
    meant = {f"dataset {product.contract.dataset}"}
    paths = getattr(source, "path", ())
    meant |= {f"file {path}" for path in ([paths] if isinstance(paths, str) else paths)}
    with suppress(SluiceError):  # a connection that is not there: whoever reads it says so
        if connection := meaning_of(source):
            meant.add(f"{connection} {getattr(source, 'table', None) or getattr(source, 'query', None)}")
    return {product.workspace.vault.pseudonym("data set", each) for each in meant}
