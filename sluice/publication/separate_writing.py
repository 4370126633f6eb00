"""Writing into a server's schema in a process of its own, which cannot reach the vault where the system allows it."""

import json
import subprocess
import sys
from typing import Any, Literal

from sluice.ground.databases import IN_FILES, database_url
from sluice.ground.errors import DataError
from sluice.publication.schema_change import SchemaChange, carry_out, differences
from sluice.settings import settings
from sluice.sources.separate_reading import PROCESS_ENVIRONMENT, believed
from sluice.sources.sql_source import ports_of, server_files

_LONGEST = 1 << 16  # bytes of an answer


def carry_out_apart(change: SchemaChange, *, rehearse: bool = False) -> None:
    """Make a change of a schema, see `carry_out`; that of a server in a process that reaches only the server.

    A database in a file is written here: it is a file of this account, like those on the shelf.

    raises : DataError, as `carry_out`; also when the process ends before its time
    cost   : half a second of CPU beside that of `carry_out`
    """
    if _is_in_a_file(change):
        carry_out(change, rehearse=rehearse)
    else:
        _apart(change, "rehearse" if rehearse else "carry out")


def differences_apart(change: SchemaChange) -> list[str]:
    """How a schema differs from a change, see `differences`; that of a server found by such a process.

    raises : DataError, as `differences`; also when the process ends before its time
    """
    if _is_in_a_file(change):
        return differences(change)
    found = _apart(change, "look")
    return [believed(str(each)) for each in found] if isinstance(found, list) else []


def _is_in_a_file(change: SchemaChange) -> bool:
    return database_url(change.url).get_backend_name() in IN_FILES


def _apart(change: SchemaChange, do: Literal["look", "rehearse", "carry out"]) -> Any:
    url = database_url(change.url)
    order = {
        "do": do,
        "change": change.model_dump(mode="json"),
        "files": [str(path) for path in (*change.tables.values(), *server_files(url))],
        "ports": ports_of(url),
        "workspace": str(settings().home),
    }
    done = subprocess.run(
        [sys.executable, "-I", "-m", "sluice.publication.schema_writer"],
        input=json.dumps(order).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=PROCESS_ENVIRONMENT,
        cwd="/",
        check=False,
    )
    try:
        says = json.loads(done.stdout[:_LONGEST])
    except ValueError:
        says = None
    if done.returncode or says is None:
        ended = f"the process that wrote into schema '{change.into}' ended with {done.returncode}"
        raise DataError(believed(str(says or ended)))
    return says
