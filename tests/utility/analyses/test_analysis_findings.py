"""Every analysis that a policy may ask for is judged, shown in the report, and has advice."""

from sluice.utility.analyses.analysis_findings import KINDS
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.utility_view import UtilityView
from tasks.checks import explain


def test_what_can_be_asked_for_is_judged_shown_and_explained() -> None:
    names = [kind.name for kind in KINDS]
    assert names == list(Analyses.model_fields)
    assert {*names} <= {*UtilityView.model_fields}
    assert all(explain(name).helps for name in names)
