"""The picture of docs/algorithms.md, as SVG that brings its own background, light or dark."""

from __future__ import annotations

import math
import re
from html import escape

from performance_plot import text

WIDTH, LEFT, RIGHT, TOP, HIGH = 760, 56, 330, 44, 260  # pixels
COLOURS = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#cf222e", "#9a6700", "#1b7c83", "#bf3989", "#57606a", "#7d4e00"]
STYLE = """
.paper{fill:#fff}text{fill:#1f2328}.dim{fill:#59636e}.grid{stroke:#d1d9e0}.aim{stroke:#1a7f37;stroke-width:2}
@media(prefers-color-scheme:dark){
.paper{fill:#0d1117}text{fill:#e6edf3}.dim{fill:#9198a1}.grid{stroke:#30363d}.aim{stroke:#3fb950}
}
"""


def shortened(given: str) -> str:
    """An input without how much of it there is."""
    words = re.sub(r", (through TF|\d+ points at \d+ Hz|\d+x\d+ at \d+ Hz|and IMU)|, depth and camera_info", "", given)
    return words.removesuffix(" and IMU")


def errors(rows: list[dict]) -> str:
    """Distance from the true position along the path, on a logarithmic scale, and the aim."""
    title = "Distance from the true position along the path, m"
    longest = max((row["path_m"] for row in rows), default=1.0)
    least, most = -3, max([0, *(math.ceil(math.log10(row["worst_m"])) for row in rows if row["worst_m"] > 0)])
    wide = WIDTH - LEFT - RIGHT

    def x(path: float) -> float:
        return LEFT + wide * path / longest

    def y(error: float) -> float:
        return TOP + HIGH * (most - math.log10(max(error, 10.0**least))) / (most - least)

    out = [text(16, 26, title, 'font-size="15" font-weight="bold"')]
    for power in range(least, most + 1):
        at = y(10.0**power)
        out.append(f'<line x1="{LEFT}" x2="{LEFT + wide}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        out.append(text(LEFT - 6, at + 4, f"{10.0**power:g}", 'text-anchor="end" class="dim"'))
    for path in range(0, int(longest) + 1, 50):
        out.append(text(x(path), TOP + HIGH + 18, f"{path} m", 'text-anchor="middle" class="dim"'))
    for n, row in enumerate(rows):
        points = " ".join(f"{x(path):.1f},{y(error):.1f}" for path, error in row["error"])
        colour = COLOURS[n % len(COLOURS)]
        dash = "" if n < len(COLOURS) else ' stroke-dasharray="4 3"'
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')
        at = TOP + 10 + 18 * n
        out.append(f'<line x1="{WIDTH - RIGHT + 16}" x2="{WIDTH - RIGHT + 36}" y1="{at}" y2="{at}" stroke="{colour}" stroke-width="3"{dash}/>')
        name = f"{row['algorithm'].split()[0]}, {shortened(row['input'])}"
        out.append(text(WIDTH - RIGHT + 42, at + 4, name, 'font-size="11"'))
    # The aim is a share of the whole path.
    shares = {row["limit"] for row in rows}
    for share in shares:
        at = y(longest * share / 100)
        out.append(f'<line x1="{LEFT}" x2="{LEFT + wide}" y1="{at:.1f}" y2="{at:.1f}" class="aim" stroke-dasharray="6 4"/>')
        out.append(text(LEFT + wide - 4, at - 28, f"aim: {share:g} % of {longest:.0f} m", 'text-anchor="end" class="dim"'))
    height = max(TOP + HIGH + 34, TOP + 18 * len(rows) + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
        f'<rect width="{WIDTH}" height="{height}" class="paper"/>\n' + "\n".join(out) + "\n</svg>\n"
    )
