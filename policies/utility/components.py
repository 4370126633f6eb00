"""Components: both files on the original's first two principal components, for the report alone."""

from sluice.utility.comparison import Comparison
from sluice.utility.component_plane import component_plane
from sluice.utility.measured import Found


def components(files: Comparison) -> Found:
    """No figure with a limit: a picture, which nothing hangs on; none where the file lacks what it should hold."""
    if files.of_few & {*files.released_numbers.names} or files.only_of_few:
        return Found({})  # the axes' shares of the variance would tell of them
    if not {*files.released} <= {*files.masked.columns} & {*files.recoded.columns}:
        return Found({})
    plane = component_plane(
        files.original, files.recoded, files.masked, files.variables, files.released, files.minimum_cell
    )
    return Found({}, {} if plane is None else {"components": plane})
