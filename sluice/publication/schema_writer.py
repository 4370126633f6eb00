"""The process that looks into a server's schema or writes it, apart: `python -I -m sluice.publication.schema_writer`.

On standard input it gets an order, as JSON: the change, with its secrets, what to do with it, and what may be touched.
On standard output it answers with the sentence of an error of ours or the kind of any other, or with the differences
that it found. What it does not need it gives up before it loads a library, like the process that reads a source: a hole
in the driver, which reads what the server answers, is no hole in the vault.
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
        from sluice.publication.schema_change import SchemaChange, carry_out, differences

        change, found = SchemaChange.model_validate(order["change"]), []
        if order["do"] == "look":
            found = differences(change)
        else:
            carry_out(change, rehearse=order["do"] == "rehearse")
    except Exception as error:
        from sluice.ground.errors import SluiceError

        says = (
            str(error) if isinstance(error, SluiceError) else f"the schema cannot be written ({type(error).__name__})"
        )
        _answer(says)
        os._exit(1)
    _answer(found)
    os._exit(0)


def _answer(says: str | list[str]) -> None:
    with os.fdopen(1, "wb") as pipe:
        pipe.write(json.dumps(says).encode())


if __name__ == "__main__":
    main()
