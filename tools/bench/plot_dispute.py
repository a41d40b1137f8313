#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `assay-bench dispute` printed: python3 plot_dispute.py dispute.json dispute.svg

Two panels over the number of parameters, with logarithmic axes: the longest answer after the segment's replay, in seconds, with
the time of a training step; and peak memory, with training's. An extrapolated point is hollow.
"""
import json
import math
import sys

WIDTH, HEIGHT = 760, 340
TOP, BOTTOM, SIDE, GAP = 50, 45, 60, 70
BLUE, GREY = "#1b6ca8", "#888888"


def decades(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


class Panel:
    """One panel's axes; add() draws a line of points."""

    def __init__(self, left, width, title, xs, ys):
        self.left, self.width = left, width
        self.x_range, self.y_range = decades(xs), decades(ys)
        self.parts = [f'<text x="{left}" y="{TOP - 16}" font-size="13">{title}</text>']
        for exponent in range(self.y_range[0], self.y_range[1] + 1):
            y = self.y(10 ** exponent)
            self.parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            self.parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10 ** exponent:g}</text>')
        for exponent in range(self.x_range[0], self.x_range[1] + 1):
            x = self.x(10 ** exponent)
            self.parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10 ** (exponent - 6):g} M</text>')
        self.parts.append(f'<text x="{left + width / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">parameters</text>')

    def _share(self, value, limits):
        return (math.log10(value) - limits[0]) / max(1, limits[1] - limits[0])

    def x(self, value):
        return self.left + self.width * self._share(value, self.x_range)

    def y(self, value):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - self._share(value, self.y_range))

    def add(self, points, colour, name):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y, _ in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        for x, y, is_extrapolated in points:
            fill = "white" if is_extrapolated else colour
            self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3.5" fill="{fill}" stroke="{colour}"/>')
        x, y, _ = points[0]
        self.parts.append(f'<text x="{self.x(x) + 6:.1f}" y="{self.y(y) - 8:.1f}" fill="{colour}">{name}</text>')


def draw(models):
    width = (WIDTH - 2 * SIDE - GAP) / 2
    xs = [model["parameters"] for model in models]

    def points(key):
        return [(m["parameters"], m[key], m.get("is_extrapolated", False)) for m in models if key in m]

    seconds = Panel(SIDE, width, "seconds", xs, [y for key in ("answer_s", "step_s") for _, y, _ in points(key)])
    seconds.add(points("answer_s"), BLUE, "longest answer")
    seconds.add(points("step_s"), GREY, "a training step")
    memory = Panel(SIDE + width + GAP, width, "MiB at the peak", xs,
                   [y for key in ("peak_mib", "training_mib") for _, y, _ in points(key)])
    memory.add(points("peak_mib"), BLUE, "a party to a dispute")
    memory.add(points("training_mib"), GREY, "training")
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    return "\n".join([head, *seconds.parts, *memory.parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(draw(result))
