"""What a verification found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verification:
    """What was found, in words. Without `problems` and `unchecked`, everything is as it was recorded."""

    problems: tuple[str, ...] = ()  # altered, missing or added
    unchecked: tuple[str, ...] = ()  # could not be read
    warnings: tuple[str, ...] = ()  # what would let somebody alter it

    def __add__(self, other: "Verification") -> "Verification":
        return Verification(
            self.problems + other.problems, self.unchecked + other.unchecked, self.warnings + other.warnings
        )
