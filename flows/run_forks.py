"""The process that has imported everything once and forks a child for each run: half of a short release's time goes
into imports.

It touches no data and no document, starts no thread, and does nothing for the worker but this. A child has the
environment of the worker, and of who asks for a run only what Prefect says of that run (`run_client`): so whoever
reached its socket could start what the worker starts, and nothing else. What a run gives up, such as files and network
where sources are read, it gives up itself, as it would in a process of its own.

`python -P -m flows.run_forks DESCRIPTOR`, of a socket that listens; standard input ends with the worker
"""

import ctypes
import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic

from flows.environment import end_in_silence, outlive_the_reader, prepare
from flows.run_client import BEGUN, OWN

_PR_SET_PDEATHSIG = 1
_MOST = 1 << 17  # bytes of an order
_PATIENCE = 10.0  # seconds in which who connects says what is wanted; nobody else waits for it
_SILENT = 64  # who have connected and said nothing yet; beyond them the one that has been silent longest is left


@dataclass
class Forks:
    """Forks a child for each who asks, until nobody can ask any more and the last child has ended."""

    server: socket.socket
    owner: int  # a pipe that ends with the worker
    entrypoints: Collection[str]  # of the flows that may be run
    asks: dict[int, socket.socket] = field(default_factory=dict)  # child -> who asked for it
    _silent: dict[socket.socket, float] = field(default_factory=dict)  # who said nothing yet -> until when, in order
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def next_run(self) -> dict[str, str] | None:
        """In a child: what Prefect says of its run. In the process itself: None, when all is over."""
        self._selector.register(self.server, selectors.EVENT_READ, self._asked)
        self._selector.register(self.owner, selectors.EVENT_READ, self._left)
        while len(self._selector.get_map()):
            for key, _ in self._selector.select(self._seconds_left()):
                if (order := key.data(key.fileobj)) is not None:
                    return dict(order)
            while self._silent and self._seconds_left() == 0:
                if (order := self._said(next(iter(self._silent)))) is not None:
                    return order
        return None

    def _seconds_left(self) -> float | None:
        """Until the first who connected has been silent for too long; None where nobody is."""
        until = next(iter(self._silent.values()), None)
        return None if until is None else max(0.0, until - monotonic())

    def _left(self, owner: int) -> None:
        """The worker is gone: what it began goes on, as it would without us."""
        self._selector.unregister(owner)
        self._selector.unregister(self.server)
        self.server.close()

    def _asked(self, server: socket.socket) -> dict[str, str] | None:
        """Somebody connects. What is wanted may come at once, later or never: meanwhile others are served."""
        try:
            asking, _ = server.accept()
        except OSError:  # it is gone again, or there is no room: who waits is asked anew
            return None
        asking.setblocking(False)
        self._silent[asking] = monotonic() + _PATIENCE
        self._selector.register(asking, selectors.EVENT_READ, self._said)
        return self._said(next(iter(self._silent))) if len(self._silent) > _SILENT else None

    def _said(self, asking: socket.socket) -> dict[str, str] | None:
        """Fork a child for what is asked, and leave who said nothing; in the child, what Prefect says of its run."""
        if self._silent.pop(asking, None) is None:
            return None  # it was left at the same moment
        self._selector.unregister(asking)
        given: list[int] = []
        try:
            told, given, *_ = socket.recv_fds(asking, _MOST, 2)
            order = self._order(told) if len(given) == 2 and _of_this_account(asking) else None
        except (OSError, ValueError):
            order = None
        child = None if order is None else _fork()
        if child is None:
            asking.close()  # who asked runs for itself
        elif child == 0:
            self._in_a_child(asking, given)
            return order
        else:
            self._follow(child, asking)
        for descriptor in given:
            os.close(descriptor)
        return None

    def _follow(self, child: int, asking: socket.socket) -> None:
        """Tell who asked that its run began, and what becomes of it."""
        try:
            ending = os.pidfd_open(child)
        except OSError:  # too many files are open: nobody would see its end
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            asking.close()
            return
        self.asks[child] = asking
        with suppress(OSError):  # it is gone: that is seen next
            asking.send(BEGUN)
        self._selector.register(asking, selectors.EVENT_READ, lambda _: self._told(child))
        self._selector.register(ending, selectors.EVENT_READ, lambda ended: self._ended(child, ended))

    def _order(self, told: bytes) -> dict[str, str] | None:
        """What Prefect says of a run, where it is one of the flows of this installation. Raises ValueError for what
        says nothing."""
        try:
            said = json.loads(told)
        except RecursionError:
            raise ValueError("brackets within brackets") from None
        if not isinstance(said, dict):
            return None
        order = {str(name): str(value) for name, value in said.items() if str(name).startswith(OWN)}
        return order if order.get(f"{OWN}FLOW_ENTRYPOINT") in self.entrypoints else None

    def _told(self, child: int) -> None:
        """Hand on a signal; who asked and is gone was ended, and the run ends with it."""
        asked = self.asks.get(child)
        if asked is None:
            return  # it ended at the same moment
        try:
            sent = asked.recv(1)
        except BlockingIOError:
            return  # it said nothing after all
        except OSError:
            sent = b""
        if not sent:
            self._selector.unregister(asked)
        with suppress(OSError):  # there is no such signal
            os.kill(child, sent[0] if sent else signal.SIGKILL)  # it is no other's number before it is waited for

    def _ended(self, child: int, ended: int) -> None:
        self._selector.unregister(ended)
        os.close(ended)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked = self.asks.pop(child)
        with suppress(KeyError):
            self._selector.unregister(asked)
        with suppress(OSError):  # what is unread when a socket is closed takes the answer away
            asked.shutdown(socket.SHUT_RD)
            while asked.recv(1):
                pass
        with suppress(OSError):
            asked.send(str(code).encode())
        asked.close()

    def _in_a_child(self, asking: socket.socket, given: list[int]) -> None:
        """Leave everything that is another's, and take what is ours: the outputs of who asked."""
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, int):
                os.close(key.fileobj)
            else:
                key.fileobj.close()  # type: ignore[attr-defined]
        self._selector.close()
        asking.close()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, number in ((nothing, 0), (given[0], 1), (given[1], 2)):
            os.dup2(descriptor, number)
        for descriptor in (nothing, *given):
            if descriptor > 2:
                os.close(descriptor)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _fork() -> int | None:
    """None where the machine has no room for another process: the runs at work must not end by that."""
    with suppress(OSError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that libraries of C started; none is Python's
        return os.fork()
    return None


def _of_this_account(asking: socket.socket) -> bool:
    _, account, _ = struct.unpack("3i", asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(account == os.getuid())


def _import_what_releases_need() -> None:
    """What nearly every release needs, and else imports when it needs it, so that commands that do not start sooner."""
    import duckdb  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import numba  # noqa: F401
    import scipy.sparse.csgraph
    import scipy.stats  # noqa: F401
    import sklearn.ensemble  # noqa: F401

    from schemas.checks import expectations_run  # noqa: F401
    from sluice.publication import records_file  # noqa: F401
    from sluice.report import report_page  # noqa: F401
    from sluice.risk.reference import reference_attack  # noqa: F401
    from sluice.utility import utility_measure  # noqa: F401


def main(listening: int) -> None:
    """Import, and fork a child for each run; in a child, run it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: it is told to the worker, which waits for runs
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    outlive_the_reader()
    end_in_silence()
    prepare()  # before Prefect is imported
    from flows.engine import run_one
    from flows.worker import ENTRYPOINTS

    for entrypoint in ENTRYPOINTS:
        import_module(entrypoint.rpartition(".")[0])
    _import_what_releases_need()
    gc.collect()
    gc.freeze()  # what is imported stays: a child that looked at it would copy its pages
    forks = Forks(socket.socket(fileno=listening), sys.stdin.fileno(), ENTRYPOINTS)
    if (order := forks.next_run()) is None:
        return
    os.environ.update(order)
    prepare()  # the log of this run
    import_module("numpy").random.seed()  # libraries that draw by it must not draw the same in each child
    run_one()


if __name__ == "__main__":
    main(int(sys.argv[1]))
