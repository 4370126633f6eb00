"""A process that works for another one, and ends with it however that one ends.

A parent that is killed tells its pool nothing: its workers would go on with what they have, and then wait for ever,
each with the records in its memory.
"""

import os
from multiprocessing import parent_process
from threading import Thread
from time import sleep

_EACH = 1.0  # second, in which the parent is looked for


def end_with_parent() -> None:
    """In a process of a pool, for its initializer: end within a second or two of the process that made it.

    raises : RuntimeError in a process that `multiprocessing` did not make
    """
    parent = parent_process()
    if parent is None or parent.pid is None:
        raise RuntimeError("this process has no parent")
    Thread(target=_end_after, args=(parent.pid,), name="end with parent", daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:  # an orphan gets another
        sleep(_EACH)
    os._exit(1)  # what is at work here has nobody to give its result to
