"""The first screen: what is asked, what happened, whether it is safe, what it is worth; in few words."""

import pytest

from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.variables import Kind
from sluice.ground.verdict import Finding
from sluice.masking import Step
from sluice.masking.treatments import OTHERWISE, treatments
from sluice.report.asked import approvals_asked
from sluice.report.dossier import Asked, Dossier, RecordsView, Treatment
from sluice.report.first_screen import MOST_WORDS, FirstScreen, first_screen
from sluice.report.first_screen_page import first_screen_html
from sluice.report.headline import further_reasons
from sluice.report.intruder_dots import intruders
from sluice.report.report_page import render
from sluice.report.wording import brief
from sluice.report.worth import bars, good_for
from sluice.risk.measurement import if_near
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel
from sluice.utility.utility_view import UtilityView
from tests.golden import golden
from tests.report.pages import FAIL, PASS, REVIEW, UNKNOWN, Page, dossier, finding, full_records, full_tables, variable

ASKED = Asked(count=2, roles=("methodologist", "data_steward"), valid_days=30)
LINKAGE = finding(
    rule="learned_linkage", stage="reference", observed=0.052, limit=0.09, attempted=9, completed=2000,
    data={"unit": "women", "chance": 0.0002}, code="learned_linkage.finds",
)  # fmt: skip
PAIRS = finding(rule="pair_marginals", stage="utility", observed=0.4, limit=0.8)
VARIABLES = (variable(), variable("town", kind_after=None), variable("sex", kind_before=Kind.NOMINAL))
WORTH = dossier(
    LINKAGE, PAIRS, finding(rule="mean", stage="utility", observed=0.04, limit=0.1), asked=ASKED, variables=VARIABLES,
    treatments=(Treatment(how="left out", variables=("town",)), Treatment(how="grouped", variables=("age", "sex"))),
    earlier_attempts=2, same_bytes=("other-1",), search_trials=7,
)  # fmt: skip
SCREENS = {
    "passing": WORTH,
    "nobody can approve": WORTH.model_copy(update={"unadopted": ("no office was founded",)}),
    "needs a decision": dossier(finding(REVIEW, says="Near its limit."), asked=ASKED, decides=("methodologist",)),
    "blocked": dossier(finding(FAIL, says="20 are alone.", where=("town: without it, 2 would be.",)), asked=ASKED),
    "blocked by one rule, and told by another": dossier(
        finding(FAIL, says="20 are alone."),
        finding(FAIL, rule="l_diversity", says="Few.", where=("age: without it, 17 instead of 297 would.",)),
        asked=ASKED,
    ),
    "blocked, a change passed": dossier(finding(FAIL), asked=ASKED, suggestions=("leave town out (loss 0.2, +0.1)",)),
    "not judged": dossier(finding(UNKNOWN, advice="Hold people out."), asked=ASKED),
    "tables": full_tables(),
    "an assessment": dossier(finding(), approvals_needed="this is an assessment, which releases nothing."),
}


@pytest.mark.parametrize("held", SCREENS.values(), ids=SCREENS)
def test_it_says_what_is_asked_and_why(held: Dossier) -> None:
    screen = first_screen(held)
    golden("\n".join(screen.lines))
    section = Page(render(held)).section("verdict")
    assert [says for tile in screen.tiles for says in tile.says if says not in section] == []
    assert FirstScreen.model_validate_json(screen.model_dump_json()) == screen


def test_it_never_has_more_words_than_fit() -> None:
    long = "word " * 300
    said = dossier(
        *(finding(FAIL, says=f"{long}{number}.", where=(long,), advice=long) for number in range(9)),
        finding(FAIL, says=long, binding=False), title=long, plan=(long,), suggestions=(long,), asked=ASKED,
    )  # fmt: skip
    for each in (said, full_records(), full_tables(), WORTH):
        assert first_screen(each).words <= MOST_WORDS


@pytest.mark.parametrize("address", ["{}.html", "/releases/{}"])
def test_an_earlier_judgement_of_the_same_bytes_is_named_and_led_to(address: str) -> None:
    screen = first_screen(WORTH.model_copy(update={"judged_bytes": ("other-12", "other-3")}))
    assert "The same bytes were judged before: other-12, other-3." in screen.questions
    page = Page(str(first_screen_html(screen, address=address)))
    led = [(attrs["href"], says) for attrs, says in page.all("a")]
    assert led == [(address.format(each), each) for each in ("other-1", "other-12", "other-3")]


def test_what_is_settled_asks_for_nothing() -> None:
    asked = first_screen(WORTH, "It is published.").asked
    assert (asked.says, asked.commands) == ("It is published.", ())


def test_an_intruder_has_the_worst_of_its_figures_as_a_share_of_the_limit_with_its_interval() -> None:
    worse = LINKAGE.model_copy(update={"observed": 0.072})
    reported, hidden = LINKAGE.as_reported(), LINKAGE.model_copy(update={"observed": None})
    (found,) = intruders([LINKAGE, worse, reported, hidden, finding()])
    assert found.share == pytest.approx(0.8)
    # 144 of 2,000: the exact 95 % interval, by R's binom.test
    assert (found.low, found.high) == (pytest.approx(0.06106 / 0.09, rel=1e-3), pytest.approx(0.08421 / 0.09, rel=1e-3))


RATE = Sentence("test.rate", "{share:percent} are found.")


def near(share: float, limit: float) -> Finding:
    told = RATE(share=share) + if_near(REVIEW, share, limit, (share - 0.01, share + 0.02))
    return finding(REVIEW, rule="own", stage="attack", observed=share, limit=limit, **as_fields(told))


def test_where_only_the_interval_crosses_the_limit_the_dot_lies_where_the_figure_is() -> None:
    for figure, share in ((0.04, 0.8), (0.055, 1.1)):
        (found,) = intruders([near(figure, 0.05)])
        assert (found.share, found.low, found.high) == pytest.approx((share, share - 0.2, share + 0.4))


def test_the_interval_of_a_figure_that_has_to_be_large_is_turned() -> None:
    keeps = Sentence("test.far", "{far} apart.")(far=0.8) + if_near(REVIEW, -0.8, -0.4, (0.2, 1.6))
    (found,) = intruders([finding(REVIEW, stage="attack", observed=0.8, limit=0.4, **as_fields(keeps))])
    assert (found.share, found.low, found.high) == pytest.approx((0.5, 0.25, 2.0))


def test_the_nearest_to_its_limit_is_the_nearest_of_those_that_are_drawn() -> None:
    other = finding(rule="own", stage="attack", observed=0.01112, limit=0.02)
    crossing = near(0.0175, 0.05)
    found = intruders([crossing.model_copy(update={"rule": "crossing"}), other])
    assert [one.name for one in found] == ["own", "crossing"]  # 56 % before 35 %, whose interval crosses the limit
    far = first_screen(dossier(finding(rule="own", stage="attack", observed=0.00001, limit=0.1)))
    assert "None comes near its limit." in far.lines


def test_reasons_of_a_block_are_counted_as_they_are_listed() -> None:
    fails = (finding(FAIL, rule=f"rule{number}", says=f"Failure {number}.") for number in range(16))
    held = dossier(*fails, finding(REVIEW, says="Near."), finding(UNKNOWN, rule="own", says="Unknown."))
    listed = sum(
        group.unsaid + sum(len(says) for says, _ in group.reasons)
        for group in further_reasons(held)
        if group.verdict is not REVIEW
    )
    assert f"{listed} more reasons below." in first_screen(held).lines


def test_coefficients_that_are_not_shown_are_counted_beside_the_bar() -> None:
    one = ComparedCoefficient(
        term="x", before=1, before_low=0, before_high=2, after=1, after_low=0, after_high=2, overlap=1, difference=0,
    )  # fmt: skip
    shown = ComparedModel(name="pay", kind="linear", formula="pay ~ x", coefficients=(one,))
    unseen = ComparedModel(name="ill", kind="logistic", formula="ill ~ x", hidden=5)
    view = dossier(utility=UtilityView(models=(shown, unseen))).view
    assert isinstance(view, RecordsView)
    (bar,) = (each for each in bars([], view) if "errors" in each.says)
    golden(bar.figure)
    assert "pay" in good_for([], view)
    partly = UtilityView(models=(shown.model_copy(update={"hidden": 2}),))
    assert "pay" not in good_for([], view.model_copy(update={"utility": partly}))


def test_nothing_is_allowed_and_something_was_found() -> None:
    (found,) = intruders([finding(FAIL, stage="attack", rule="own", observed=0.1, limit=0.0)])
    assert (found.share, found.verdict) == (None, "FAIL")


def test_a_bar_is_full_where_nothing_was_lost() -> None:
    kept, pairs = bars([PAIRS.model_copy(update={"observed": 0.0})], dossier(variables=VARIABLES).view)  # type: ignore[arg-type]
    assert (kept.of, pairs.share) == ("2 of 3", 1.0)


def test_what_was_not_measured_is_good_for_nothing() -> None:
    assert good_for([], dossier().view) == "Good for nothing that was measured."  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("One. Two three. Four.", "One. Two three."),
        ("One, two, three four.", "One, two, three …"),
        ("It falls by 5 %.", "It falls …"),
        ("Some fall (as 5 do here).", "Some fall …"),
        ("There are 5 % left.", "There …"),
        ("", ""),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_a_word(text: str, told: str) -> None:
    assert brief(text, 3) == told


def test_one_person_is_asked_in_the_singular() -> None:
    asked = approvals_asked("r-1", 1, ("owner",), 1, "emil")
    golden(asked.says)
    assert asked.until.endswith("after a day.")


@pytest.mark.parametrize("method", Step.__args__, ids=lambda method: method.__name__)
def test_every_method_has_a_word(method: type) -> None:
    step = method.model_construct(method=method.model_fields["method"].default, columns=("a", "b"))
    assert treatments([step]) == {next(iter(treatments([step]))): ("a", "b")}
    assert OTHERWISE not in treatments([step])


def test_a_passing_rule_without_a_case_does_not_apply() -> None:
    page = Page(render(dossier(finding(PASS, attempted=0, completed=0), finding(PASS, rule="suda", attempted=4))))
    golden([line for line in page.lines if "1 of 1" in line])
    assert "1 that meets its rule; 1 that does not apply." in page.section("findings")
    assert "0 of 0" not in page.section("findings")
