"""The process that writes into a server's schema, apart: `python -I -m sluice.publication.schema_writer`.

On standard input it gets an order, as JSON: the change, with its secrets, and what may be touched. On standard output
it answers with the sentence of an error of ours or the kind of any other, and with nothing when all was done. What it
does not need it gives up before it loads a library, like the process that reads a source: a hole in the driver, which
reads what the server answers, is no hole in the vault.
"""

import json
import os
import sys
from pathlib import Path

from sluice.sources.reader import own_folders
from sluice.sources.sandbox import confine


def main() -> None:
    order = json.load(sys.stdin)
    try:
        confine([Path(path) for path in order["files"]], own_folders(Path(order["workspace"]), True), order["ports"])
        from sluice.publication.schema_change import SchemaChange, carry_out

        carry_out(SchemaChange.model_validate(order["change"]))
    except Exception as error:
        from sluice.errors import SluiceError

        says = (
            str(error) if isinstance(error, SluiceError) else f"the schema cannot be written ({type(error).__name__})"
        )
        os.write(1, json.dumps(says).encode())
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
