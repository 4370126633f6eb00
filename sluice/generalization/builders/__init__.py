"""The builders of hierarchies, by the key with which a contract asks for each."""

from sluice.generalization.builders.builder import HierarchyBuilder
from sluice.generalization.builders.categories import OrderedGroups, Priority
from sluice.generalization.builders.codes import Parents, Prefixes, Redaction
from sluice.generalization.builders.intervals import CutPoints, Intervals
from sluice.generalization.builders.ranges import Ranges
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
