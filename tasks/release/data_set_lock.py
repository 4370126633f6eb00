"""The lock of a data set: one run at a time reads and judges it, whatever its definition is called.

Prefect's own limits are by definition, and hold only where there is a server. Two definitions of one data set, such as
a file of records and tables of it, would be judged beside what was published before either, and not beside each other.
The lock is of the operating system (`flock`), on a file in the workspace: it ends with the process, however that ends.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from sluice.ground.durable import locked, make_folder
from sluice.ground.errors import SluiceError
from sluice.ground.log import log
from sluice.sources.permission import meaning_of
from tasks.release.definition import Definition
from tasks.release.documents import Documents


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
