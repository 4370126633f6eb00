"""The risk-utility map as a drawing: inline SVG in the page's colours, or a file of its own.

The scale of the risk is even up to the limit and falls off beyond it, so that twice and a thousand times the limit can
both be seen; the scale of the loss is even, with no release beyond a break where it lies far off. The same map gives
the same bytes.
"""

from collections.abc import Sequence
from math import hypot

from markupsafe import Markup, escape

from sluice.ground.verdict import Verdict
from sluice.ground.visible_text import visible
from sluice.report.records_plots import round_values
from sluice.report.risk_utility_map import MapPoint, RiskUtilityMap
from sluice.report.wording import PLAN_WORDS, figure, rule_words

_WIDTH, _HEIGHT = 460, 400
_LEFT, _RIGHT, _TOP, _BASE = 46, 372, 34, 344  # of the panel; right of it the break and no release
_CORNER = 424  # where no release stands when it lies beyond the scale
_BADGE = 10.0  # radius
_PLACES = ((0, -21), (19, -12), (-19, -12), (23, 8), (-23, 8), (0, 22), (16, 22), (-16, 22), (34, -16), (-34, -16),
           (34, 20), (-34, 20), (0, -42), (0, 42), (42, 0), (-42, 0), (26, 46), (46, 46), (60, 30),
           (90, 10))  # fmt: skip
_RULE = 'fill="none" stroke="var(--rule)"'
_LIMIT = 'fill="none" stroke="var(--fail)" stroke-width="1.3" stroke-dasharray="5 3"'

# A file of its own has no page whose colours it could take.
_COLOURS = (
    ":root{--paper:#fdfdfb;--ink:#1c2126;--soft:#565d65;--rule:#c9ccce;--link:#1b4f86;--band:#d9dfdd;"
    "--pass:#1a643a;--review:#7c5200;--fail:#a01d1a;--unknown:#5a3a8c}"
    "@media(prefers-color-scheme:dark){:root{--paper:#15181b;--ink:#e6e8ea;--soft:#a9b0b7;--rule:#454c53;"
    "--link:#8fbdec;--band:#343c43;--pass:#7fcf9c;--review:#e4b45c;--fail:#f39a92;--unknown:#c3aaf0}}"
)


def risk_utility_svg(drawn: RiskUtilityMap, standalone: bool = False) -> Markup:
    """The map as SVG, each point a link to its report where there is one.

    standalone : with name space and colours of its own, for a file
    """
    scale = _Scale.of(drawn)
    parts = [*_frame(drawn, scale), *_limits(drawn, scale), *_corners(drawn, scale), *_front(drawn, scale)]
    left = scale.y(drawn.no_masking.risk)
    label = [(_LEFT + right, left + (12 if left < _TOP + 20 else -12)) for right in (0, 14, 32, 50, 68)]
    parts += _badges([point for point in drawn.points if point.loss is not None], scale, [(_LEFT, left), *label])
    description = (
        f"Risk-utility map of {len(drawn.points)} plans: {drawn.loss.says}, to the right; {drawn.risk.says}, upwards. "
        "The figures follow below."
    )
    alone = ' xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"' if standalone else ""
    style = f'<style>{_COLOURS}</style><rect width="100%" height="100%" fill="var(--paper)"/>' if standalone else ""
    return Markup(
        f'<svg class="plot ru-map" role="img" aria-label="{escape(visible(description))}"{alone} '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="13" fill="var(--ink)">{style}{"".join(parts)}</svg>'
    )


class _Scale:
    """Where a loss and a risk lie in the drawing."""

    def __init__(self, end: float, share: bool, no_release: float | None) -> None:
        self.end = end
        self.share = share
        self.no_release = no_release

    @classmethod
    def of(cls, drawn: RiskUtilityMap) -> "_Scale":
        losses = [point.loss for point in drawn.points if point.loss is not None]
        end = 1.12 * max([*losses, *drawn.loss.limits], default=0.0) or 1.0
        corner = drawn.no_release.loss
        if corner is not None and corner <= 1.6 * end:
            end, corner = max(end, corner), None
        return cls(end, drawn.risk.share, corner)

    def x(self, loss: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * loss / self.end

    def y(self, risk: float | None) -> float:
        """Even from 0 to 1, which is half way up; then reciprocal, so that the top is without bound (None).

        A share is drawn evenly, 1 at the top.
        """
        if risk is None:
            return _TOP
        if self.share:
            return _BASE - (_BASE - _TOP) * min(risk, 1.0)
        height = risk / 2 if risk <= 1 else 1 - 1 / (2 * risk)
        return _BASE - (_BASE - _TOP) * height


def _frame(drawn: RiskUtilityMap, scale: _Scale) -> list[str]:
    low, high = scale.y(1.0), scale.y(0.0)
    right = _WIDTH - 6 if scale.no_release is not None else _RIGHT
    band = (
        []
        if drawn.risk.share
        else [
            f'<rect x="{_LEFT}" y="{low:.1f}" width="{_RIGHT - _LEFT}" height="{high - low:.1f}" fill="var(--band)" '
            'fill-opacity="0.45"/>',
        ]
    )
    parts = [
        *band,
        f'<path d="M{_LEFT} {_TOP}V{_BASE}H{right}" {_RULE}/>',
    ]
    even = ((0.0, "0"), (0.25, "¼"), (0.5, "½"), (0.75, "¾"), (1.0, "1"))
    beyond = ((0.0, "0"), (0.5, "½"), (1.0, "1"), (2.0, "2"), (5.0, "5"), (None, "∞"))
    for value, label in even if drawn.risk.share else beyond:
        y = scale.y(value)
        parts.append(f'<path d="M{_LEFT - 4} {y:.1f}H{_LEFT}" {_RULE}/>')
        parts.append(_text(_LEFT - 7, y + 4, label, "end"))
    for tick in round_values(scale.end, 4):
        parts.append(f'<path d="M{scale.x(tick):.1f} {_BASE}V{_BASE + 4}" {_RULE}/>')
        parts.append(_text(scale.x(tick), _BASE + 18, format(tick, ".6g"), "middle"))
    parts.append(_text(_LEFT - 36, 14, f"risk: {_short_risk(drawn)}", "start", "var(--soft)"))
    parts.append(
        _text((_LEFT + _RIGHT) / 2, _BASE + 37, f"loss: {rule_words(drawn.loss.name)} →", "middle", "var(--soft)")
    )
    return parts


def _short_risk(drawn: RiskUtilityMap) -> str:
    if drawn.risk.share:
        return "disclosure risk (DR)"
    of = "the worst rule" if drawn.risk.name == "margin" else rule_words(drawn.risk.name)
    return f"figure of {of} ÷ limit"


def _limits(drawn: RiskUtilityMap, scale: _Scale) -> list[str]:
    parts = []
    for risk in drawn.risk.limits:
        y = scale.y(risk)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}" {_LIMIT}/>')
        parts.append(_text(_RIGHT + 5, y + 4, "at the limit", "start", "var(--fail)"))
    for limit in drawn.loss.limits:
        x = scale.x(limit)
        parts.append(f'<path d="M{x:.1f} {_TOP}V{_BASE}" {_LIMIT}/>')
        parts.append(_text(x - 4, _BASE - 6, f"limit {figure(limit)}", "end", "var(--fail)"))
    return parts


def _corners(drawn: RiskUtilityMap, scale: _Scale) -> list[str]:
    left = scale.y(drawn.no_masking.risk)
    parts = [_square(_LEFT, left), _text(_LEFT + 10, left + (16 if left < _TOP + 20 else -8), "no masking", "start")]
    if drawn.no_release.loss is None:
        return parts
    if scale.no_release is None:
        x = scale.x(drawn.no_release.loss)
        return [*parts, _square(x, _BASE), _text(x + 8, _BASE - 9, "no release", "middle")]
    middle = (_RIGHT + _CORNER) / 2 - 6
    low, high = _BASE + 6, _BASE - 6
    broken = f'<path d="M{middle - 4} {low}L{middle + 2} {high}M{middle + 3} {low}L{middle + 9} {high}"'
    return [
        *parts,
        f'{broken} fill="none" stroke="var(--ink)"/>',
        _square(_CORNER, _BASE),
        _text(_CORNER, _BASE - 11, "no release", "middle"),
        _text(_CORNER, _BASE + 18, format(scale.no_release, ".3g"), "middle"),
    ]


def _square(x: float, y: float) -> str:
    return f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" fill="var(--soft)"/>'


def _front(drawn: RiskUtilityMap, scale: _Scale) -> list[str]:
    """The steps of the front: what lies above and to the right of them is dominated."""
    on_front = sorted(
        {
            (scale.x(p.loss), scale.y(None if p.beyond else p.risk))
            for p in drawn.points
            if p.on_front and p.loss is not None
        }
    )
    if len(on_front) < 2:
        return []
    (x, y), *rest = on_front
    path = f"M{x:.1f} {y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in rest)
    return [f'<path d="{path}" fill="none" stroke="var(--link)" stroke-width="1.6" stroke-opacity="0.75"/>']


def _badges(points: Sequence[MapPoint], scale: _Scale, kept_free: Sequence[tuple[float, float]]) -> list[str]:
    """A dot where the plan lies, and beside it its letter in a circle, where no other one is covered."""
    dots = [(scale.x(point.loss or 0.0), scale.y(None if point.beyond else point.risk)) for point in points]
    taken: list[tuple[float, float]] = []
    parts = []
    for point, (x, y) in zip(points, dots, strict=True):
        at = _free_place(x, y, taken, [*dots, *kept_free])
        taken.append(at)
        parts.append(_badge(point, x, y, *at))
    return parts


def _free_place(
    x: float, y: float, taken: Sequence[tuple[float, float]], dots: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    def room(place: tuple[float, float]) -> float:
        apart = [hypot(place[0] - other[0], place[1] - other[1]) - 2 * _BADGE for other in taken]
        apart += [hypot(place[0] - dot[0], place[1] - dot[1]) - _BADGE - 4 for dot in dots]
        inside = min(place[0] - _LEFT, _WIDTH - place[0], place[1] - 18, _BASE - place[1]) - _BADGE
        return min([0.0, inside, *apart])

    places = [(x + right, y + down) for right, down in _PLACES]
    return max(places, key=lambda place: (room(place), -places.index(place)))


def _badge(point: MapPoint, x: float, y: float, at_x: float, at_y: float) -> str:
    word = PLAN_WORDS[Verdict[point.verdict]]
    colour = f"var(--{word.style})"
    passes = Verdict[point.verdict] is Verdict.PASS
    ends = ' stroke-dasharray="3 2"' if point.unknown else ""
    size = 12 if len(point.letter) == 1 else 10
    drawn = (
        f"<title>{escape(visible(f'{point.letter}: {point.name}: {word.word}'))}</title>"
        f'<path d="M{x:.1f} {y:.1f}L{at_x:.1f} {at_y:.1f}" fill="none" stroke="{colour}" stroke-width="0.9"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{colour}"/>'
        f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="{_BADGE}" fill="{colour if passes else "var(--paper)"}" '
        f'stroke="{colour}" stroke-width="1.6"{ends}/>'
        f'<text x="{at_x:.1f}" y="{at_y + 4:.1f}" text-anchor="middle" font-weight="600" font-size="{size}" '
        f'fill="{"var(--paper)" if passes else colour}">{escape(point.letter)}</text>'
    )
    return f'<a href="{escape(point.report)}">{drawn}</a>' if point.report else f"<g>{drawn}</g>"


def _text(x: float, y: float, words: str, anchor: str, ink: str = "") -> str:
    colour = f' fill="{ink}"' if ink else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{colour}>{escape(visible(words))}</text>'
