"""The process that Prefect's server knows as a run's: it has the run forked from one that has imported everything.

It imports nothing but a part of the standard library, takes some milliseconds, and lives as long as the run: with the
run's id in its environment, its standard error, and its exit code. Whoever ends it ends the run. Where nobody forks it
becomes the run itself.

`python -I -S run_client.py SOCKET COMMAND...`
"""

import json
import os
import signal
import socket
import sys
from contextlib import suppress

OWN = "PREFECT__"  # what Prefect says of one run; all else is the same for each, and is not taken from here
BEGUN = b"begun"
_LONGEST = 64  # bytes of an answer


def main(path: str, command: list[str]) -> None:
    """Have the run forked, and end as it ends."""
    told = json.dumps({name: value for name, value in os.environ.items() if name.startswith(OWN)}).encode()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    signals: list[int] = []  # of before it began
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    try:
        server.connect(path)
        socket.send_fds(server, [told], [1, 2])
        begun = server.recv(_LONGEST) == BEGUN
    except OSError:
        begun = False
    if not begun:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.execv(command[0], command)
    signal.signal(signal.SIGTERM, lambda number, _: _tell(server, number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run gets it itself, as it is of the same group
    for number in signals:
        _tell(server, number)
    _end(server.recv(_LONGEST))


def _tell(server: socket.socket, number: int) -> None:
    with suppress(OSError):  # the run ended at the same moment
        server.send(bytes([number]))


def _end(status: bytes) -> None:
    """With the exit code of the run, or by the signal that ended it; by SIGKILL where nobody can tell any more."""
    code = int(status or -signal.SIGKILL)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
