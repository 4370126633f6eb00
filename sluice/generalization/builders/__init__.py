"""The builders of hierarchies, by the key with which a contract asks for each."""

from sluice.generalization.builders.builder import HierarchyBuilder
from sluice.generalization.builders.category_groups import OrderedGroups, Parents, Prefixes, Priority, Redaction
from sluice.generalization.builders.number_groups import CutPoints, Intervals, Ranges
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
