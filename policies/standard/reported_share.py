"""A share as a report may give it: of a few people only that they are few."""


def reported_share(count: int, n: int, minimum_cell: int) -> tuple[float | None, float | str]:
    """A share as a finding observes it, and as its sentence tells it; of a few people only that they are few."""
    return (None, f"fewer than {minimum_cell}") if 0 < count < minimum_cell else (count / n, count / n)
