"""Where commands outside a release may write: over nothing that is read, kept or published."""

from collections.abc import Iterable
from pathlib import Path

from sluice.custody.shelf import CHECKSUMS
from sluice.ground.errors import DataError
from sluice.settings import settings


def refuse_to_overwrite(output: Path, inputs: Iterable[Path | None], *further: Path, option: str = "--output") -> None:
    """Raise DataError when the output, or a further file that is written, is read, published or of the workspace."""
    written = [path.resolve() for path in (output, *further)]
    home = settings().home
    if any(path.is_relative_to(home) for path in written):
        raise DataError(
            f"{option} {output} lies in the workspace {home}, where only releases write. Name another file."
        )
    if any((path.parent / CHECKSUMS).exists() for path in written):
        raise DataError(f"{option} {output} would change a published release. Name another file.")
    for given in inputs:
        if given is not None and given.resolve() in written:
            raise DataError(f"{option} {output} would overwrite {given}, which is read. Name another file.")
