"""That a list which people keep by hand has all that there is, and what to do where it has not."""

from collections.abc import Iterable


def all_listed(listed: Iterable[str], there_are: Iterable[str], where: str) -> None:
    """`where` says where the list stands, for whoever has added something and not put it there."""
    __tracebackhide__ = True
    names, known = {*listed}, {*there_are}
    missing, gone = (", ".join(sorted(each)) for each in (known - names, names - known))
    assert not missing, f"Add {missing} to {where}; see CONTRIBUTING.md."
    assert not gone, f"There is no {gone}: take it out of {where}."
