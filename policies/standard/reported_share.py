"""A share as a report may give it: of a few people only that they are few."""


def reported_share(count: int, n: int, minimum_cell: int) -> tuple[float | None, str]:
    """A share as a number and in words; of a few people only that they are few."""
    return (None, f"Fewer than {minimum_cell}") if 0 < count < minimum_cell else (count / n, f"{count / n:.2%}")
