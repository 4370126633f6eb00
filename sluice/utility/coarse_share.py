"""Coarse share: a share of the records, rounded so that it tells of no change of a few."""


def coarse_share(value: float, records: int, minimum_cell: int) -> float:
    """The share as the nearest multiple of `minimum_cell` records, at most 1; exact where one record may be told.

    value        : a share of the records, 0 to 1
    records      : of the file that it is a share of; 0 leaves the value as it is
    minimum_cell : no smaller number of records may be told
    """
    if minimum_cell <= 1 or not records:
        return value
    step = minimum_cell / records
    return min(1.0, round(value / step) * step)
