"""Writing into a server's schema in a process of its own, which cannot reach the vault where the system allows it."""

import json
import subprocess
import sys

from sluice.errors import DataError
from sluice.publication.schema_change import SchemaChange, carry_out
from sluice.settings import settings
from sluice.sources.database_url import database_url
from sluice.sources.dialects import IN_FILES
from sluice.sources.separate_reading import PROCESS_ENVIRONMENT, believed
from sluice.sources.sql_source import ports_of, server_files


def carry_out_apart(change: SchemaChange) -> None:
    """Make a change of a schema, see `carry_out`; that of a server in a process that reaches only the server.

    A database in a file is written here: it is a file of this account, like those on the shelf.

    raises : DataError, as `carry_out`; also when the process ends before its time
    cost   : half a second of CPU beside that of `carry_out`
    """
    url = database_url(change.url)
    if url.get_backend_name() in IN_FILES:
        carry_out(change)
        return
    order = {
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
    if done.returncode:
        try:
            says = str(json.loads(done.stdout[: 1 << 16]))
        except ValueError:
            says = f"the process that wrote into schema '{change.into}' ended with {done.returncode}"
        raise DataError(believed(says))
