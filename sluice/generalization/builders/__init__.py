"""The builders of hierarchies, by the key with which a contract asks for each."""

from sluice.generalization.builders.builder import HierarchyBuilder
from sluice.generalization.builders.categories import OrderedGroups, Parents, Prefixes, Priority, Redaction
from sluice.generalization.builders.intervals import CutPoints, Intervals, Ranges
from sluice.generalization.builders.times import Periods, TimesOfDay

BUILDERS: dict[str, type[HierarchyBuilder]] = {
    builder.key(): builder
    for builder in (
        Intervals,
        CutPoints,
        OrderedGroups,
        Ranges,
        Periods,
        TimesOfDay,
        Priority,
        Redaction,
        Prefixes,
        Parents,
    )
}
