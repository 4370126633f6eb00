"""The builders of hierarchies, by the key with which a contract asks for each."""

from sluice.generalization.builders.builder import HierarchyBuilder
from sluice.generalization.builders.cut_points import CutPoints
from sluice.generalization.builders.intervals import Intervals
from sluice.generalization.builders.ordered_groups import OrderedGroups
from sluice.generalization.builders.parents import Parents
from sluice.generalization.builders.periods import Periods
from sluice.generalization.builders.prefixes import Prefixes
from sluice.generalization.builders.priority import Priority
from sluice.generalization.builders.ranges import Ranges
from sluice.generalization.builders.redaction import Redaction
from sluice.generalization.builders.times_of_day import TimesOfDay

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
