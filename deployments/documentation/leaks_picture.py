"""The picture of docs/leaks.md: `python -m deployments.documentation.leaks_picture`, from the figures of the benchmark.

Each method is a line, each of its strengths a dot: the share of people whom an intruder who learned finds.
"""

import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "leaks.svg"
_FIGURES = (ROOT / "benchmarks" / "leaks.md").read_text(encoding="utf-8")
_LEFT, _WIDTH, _LINE = 250, 560, 19


def learned(data_set: str) -> dict[str, list[float]]:
    """Method -> the share of people found at each strength, weakest first; 0 where fewer than a report may name."""
    section = _FIGURES.split(f"## {data_set}\n")[1].split("\n## ")[0]
    found: dict[str, list[float]] = {}
    for row in re.findall(r"^\| (.+) \|$", section, re.MULTILINE)[2:]:
        method, _, _, share, *_ = row.split(" | ")
        found.setdefault(method, []).append(0.0 if share == "-" else float(share.removesuffix(" %")))
    return found


def picture(data_set: str = "Census") -> str:
    """The lines in order of the least share that a strength reaches, as SVG."""
    lines = sorted(learned(data_set).items(), key=lambda each: (min(each[1]), max(each[1]), each[0]))
    height = _LINE * (len(lines) + 3)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 40} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        f"<title>Share of people found, by method and strength, {escape(data_set)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for share in range(0, 101, 20):
        x = _LEFT + share * _WIDTH / 100
        drawn.append(f'<line x1="{x:g}" x2="{x:g}" y1="{_LINE * 1.5:g}" y2="{height - _LINE}" stroke="#ddd"/>')
        drawn.append(f'<text x="{x:g}" y="{_LINE}" text-anchor="middle">{share} %</text>')
    for row, (method, shares) in enumerate(lines):
        y = _LINE * (row + 2.2)
        ends = [_LEFT + share * _WIDTH / 100 for share in (min(shares), max(shares))]
        drawn.append(f'<text x="{_LEFT - 14}" y="{y + 4:g}" text-anchor="end">{escape(method)}</text>')
        drawn.append(f'<line x1="{ends[0]:g}" x2="{ends[1]:g}" y1="{y:g}" y2="{y:g}" stroke="#3f51b5"/>')
        for strength, share in enumerate(shares):
            x, size = _LEFT + share * _WIDTH / 100, 3 + 1.5 * strength
            drawn.append(f'<circle cx="{x:g}" cy="{y:g}" r="{size:g}" fill="#3f51b5" fill-opacity="0.6"/>')
    return "\n".join([*drawn, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
