"""Draws the first flight of each track that test/e2e/vehicles/test_px4.py wrote: the square from above, and the height.

RFLY_FLIGHTS=<directory> RFLY_PX4=<starts PX4> pytest test/e2e/vehicles/test_px4.py
python3 docs/img/flight.py <directory>/px4.csv <directory>/emulator.csv > docs/img/flight.svg
"""

import csv
import sys
from pathlib import Path

COLOURS = ["#c0392b", "#2b6cb0"]
CORNERS = [(0, 0), (5, 0), (5, 5), (0, 5), (0, 0)]
AIRBORNE_M = 0.5
METRE, SECOND = 48, 13  # pixels
TOP_VIEW, HEIGHT = (60, 330), (430, 330)  # pixels of the origins


def first_flight(path: str) -> list[tuple[float, float, float, float]]:
    """Seconds since take-off, and metres east, north, up of where it stood."""
    with open(path) as file:
        rows = [tuple(float(row[key]) for key in ("seconds", "east", "north", "up")) for row in csv.DictReader(file)]
    up = next(i for i, row in enumerate(rows) if row[3] > AIRBORNE_M)
    down = next(i for i, row in enumerate(rows) if i > up + 100 and row[3] < AIRBORNE_M / 2)
    start = rows[max(0, up - 60)]
    return [(t - start[0], e - start[1], n - start[2], u - start[3]) for t, e, n, u in rows[max(0, up - 60) : down]]


def line(points: list[tuple[float, float]], style: str) -> str:
    """A line through pixels."""
    return f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" {style}/>'


def from_above(east: float, north: float) -> tuple[float, float]:
    """Pixel of a place."""
    return TOP_VIEW[0] + METRE * east, TOP_VIEW[1] - METRE * north


def in_time(seconds: float, up: float) -> tuple[float, float]:
    """Pixel of a height."""
    return HEIGHT[0] + SECOND * seconds, HEIGHT[1] - 60 * up


def main() -> None:
    """Writes the picture."""
    flights = {Path(path).stem: first_flight(path) for path in sys.argv[1:]}
    longest = max(flight[-1][0] for flight in flights.values())
    grid = 'stroke="#ddd"'
    out = []
    for m in range(6):
        (x, y), (_, h) = from_above(m, m), in_time(0, m)
        out += [line([(x, TOP_VIEW[1]), (x, TOP_VIEW[1] - 5 * METRE)], grid), line([(TOP_VIEW[0], y), (TOP_VIEW[0] + 5 * METRE, y)], grid)]
        out += [f'<text x="{x:.0f}" y="352" text-anchor="middle">{m}</text>', f'<text x="34" y="{y + 4:.0f}" text-anchor="end">{m}</text>']
        if m <= 3:
            out += [line([(HEIGHT[0], h), in_time(longest, m)], grid), f'<text x="{HEIGHT[0] - 8}" y="{h + 4:.0f}" text-anchor="end">{m}</text>']
    for s in range(0, int(longest) + 1, 5):
        out.append(f'<text x="{in_time(s, 0)[0]:.0f}" y="352" text-anchor="middle">{s}</text>')
    out.append(line([from_above(*corner) for corner in CORNERS], 'stroke="#999" stroke-dasharray="5 4"'))
    for (name, flight), colour, row in zip(flights.items(), COLOURS, (0, 1), strict=False):
        style = f'stroke="{colour}" stroke-width="2"'
        out.append(line([from_above(e, n) for _, e, n, _ in flight], style))
        out.append(line([in_time(t, u) for t, _, _, u in flight], style))
        out.append(f'<text x="{HEIGHT[0] + 20}" y="{84 + 20 * row}" fill="{colour}" font-weight="bold">{name}</text>')
    width = in_time(longest, 0)[0] + 30
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} 385" font-family="sans-serif" font-size="13" role="img" '
        'aria-label="A square flown by PX4 and by the emulator: from above, and height over time">',
        f'<rect width="{width:.0f}" height="385" fill="#fff"/>',
        '<text x="60" y="30" font-size="15" font-weight="bold">local_position/pose from above</text>',
        f'<text x="{HEIGHT[0]}" y="30" font-size="15" font-weight="bold">its height</text>',
        '<text x="180" y="374" text-anchor="middle" fill="#555">east, m (up: north)</text>',
        f'<text x="{(HEIGHT[0] + width) / 2:.0f}" y="374" text-anchor="middle" fill="#555">seconds; up: metres</text>',
        *out,
        "</svg>",
        sep="\n",
    )


main()
