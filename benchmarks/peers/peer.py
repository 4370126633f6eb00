"""Run a peer's script in the environment of the peers: data go there as Parquet, figures come back as JSON.

The peers need an older pandas than Sluice, and one of them is GPL: so none is ever imported beside it. `make peers`
makes `.venv-peers` by the versions of locks/peers.lock. A peer that is not there is named, and its benchmark goes on.
"""

import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

PYTHON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"

_VERSION = "import sys, importlib, importlib.metadata as of; importlib.import_module(sys.argv[1]); "
_VERSION += "print(of.version(sys.argv[1]))"


class PeerFailedError(RuntimeError):
    """A peer that is there ended without an answer; says the end of what it printed."""


@cache
def version_of(peer: str) -> str | None:
    """The version of a peer that can be imported; None where it cannot. Either is printed, once."""
    if not PYTHON.exists():
        print(f"{peer} cannot be had: there is no {PYTHON.parents[1].name}; make peers", flush=True)
        return None
    ran = subprocess.run([PYTHON, "-c", _VERSION, peer], capture_output=True, text=True)
    if ran.returncode:
        print(f"{peer} cannot be had: {_end(ran.stderr, 200)}", flush=True)
        return None
    version = ran.stdout.split()[-1]
    print(f"beside {peer} {version}", flush=True)
    return version


def ask(peer: str, question: str, frames: Mapping[str, pd.DataFrame] | None = None, **settings: Any) -> dict[str, Any]:
    """The figures that a peer's script, `by_PEER.py`, answers to a question, and `version`, which is the peer's.

    frames   : by name, data that it gets; categories and texts as texts, whole numbers as such where none is missing
    settings : what else it gets; whatever JSON can hold
    raises   : PeerFailedError, also for a peer that is not there: ask `version_of` before
    """
    if version_of(peer) is None:
        raise PeerFailedError(f"{peer} cannot be had")
    script = Path(__file__).with_name(f"by_{peer}.py")
    with TemporaryDirectory() as folder:
        given, made = Path(folder) / "given", Path(folder) / "made.json"
        given.mkdir()
        for name, frame in (frames or {}).items():
            _write(frame, given / f"{name}.parquet")
        (given / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        ran = subprocess.run([PYTHON, script, question, given, made], capture_output=True, text=True)
        if not made.exists():
            raise PeerFailedError(f"{peer} failed: {_end(ran.stdout + ran.stderr, 1000)}")
        answer: dict[str, Any] = json.loads(made.read_text(encoding="utf-8"))
    return answer


def _write(frame: pd.DataFrame, path: Path) -> None:
    """In plain types, and without what pandas notes for itself, which an older one does not read."""
    plain = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            plain[name] = column.astype(object)
        elif column.dtype == "Int64":
            plain[name] = column.astype("float64" if column.hasnans else "int64")
        else:
            plain[name] = column
    table = pa.Table.from_pandas(pd.DataFrame(plain), preserve_index=False)
    pq.write_table(table.replace_schema_metadata(None), path)


def _end(said: str, length: int) -> str:
    return said.strip()[-length:]
