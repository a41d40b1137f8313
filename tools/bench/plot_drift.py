#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `assay-bench drift` printed: python3 plot_drift.py drift.json drift.svg

Above, the share of honest segments beyond each threshold (false slashes) and of each cheat's segments within it (missed
cheats); in the middle the same over multiples of each task's own threshold; below, honest drift over a run's segments.
"""
import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 330
LEFT, RIGHT, TOP, BOTTOM = 60, 340, 40, 45
COLOURS = ["#1b6ca8", "#d95f02", "#1b9e77", "#6a3d9a", "#b15928", "#e31a1c", "#a6cee3", "#fb9a99", "#33a02c", "#cab2d6",
           "#ff7f00", "#666666", "#b3a500"]


class Panel:
    """Axes with logarithmic or plain scales, and lines in them."""

    def __init__(self, top, title, x, y, x_log, y_log):
        self.top, self.x, self.y, self.x_log, self.y_log = top, x, y, x_log, y_log
        self.parts = [f'<text x="{LEFT}" y="{top + 18}" font-size="14">{escape(title)}</text>']
        self.labels = 0
        self.frame()

    @staticmethod
    def place(value, span, is_log):
        low, high = span
        if is_log:
            value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def at(self, x, y):
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return (LEFT + self.place(x, self.x, self.x_log) * width,
                self.top + TOP + (1 - self.place(y, self.y, self.y_log)) * height)

    @staticmethod
    def ticks(span, is_log):
        low, high = span
        if is_log:
            return [10.0 ** e for e in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
        if isinstance(high, int):
            return list(range(low, high + 1))
        return [low + (high - low) * i / 4 for i in range(5)]

    def frame(self):
        for tick in self.ticks(self.x, self.x_log):
            x, y = self.at(tick, self.y[0])
            self.parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self.top + TOP}" y2="{y:.1f}" stroke="#eee"/>')
            self.parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{tick:g}</text>')
        for tick in self.ticks(self.y, self.y_log):
            x, y = self.at(self.x[0], tick)
            self.parts.append(f'<line x1="{x:.1f}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>')
            self.parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')

    def line(self, name, points, colour, width=1.5, dashes=""):
        path = " ".join("%.1f,%.1f" % self.at(x, y) for x, y in points)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{width}"{dash} points="{path}"/>')
        if name:
            top = self.top + TOP + 17 * self.labels
            self.labels += 1
            self.parts.append(f'<line x1="{WIDTH - RIGHT + 12}" x2="{WIDTH - RIGHT + 30}" y1="{top}" y2="{top}" '
                              f'stroke="{colour}" stroke-width="2"{dash}/>')
            self.parts.append(f'<text x="{WIDTH - RIGHT + 35}" y="{top + 4}">{escape(name)}</text>')


def draw_rates(panel, curve, honest):
    xs = curve["threshold"]
    panel.line("honest segments slashed", list(zip(xs, honest)), "#000", 2.5)
    for colour, (name, missed) in zip(COLOURS, sorted(curve["missed"].items())):
        panel.line("missed: " + name, list(zip(xs, missed)), colour)


def upright(panel, name, x, colour, dashes):
    panel.line(name, [(x, panel.y[0]), (x, panel.y[1])], colour, 1, dashes)


def draw_absolute(study):
    panel = Panel(0, f'{study["model"]}: segments misjudged, over the threshold of relative drift', (1e-8, 10.0), (0.0, 1.0),
                  True, False)
    curve = study["absolute_curve"]
    draw_rates(panel, curve, curve["false_slash"])
    separation = study["separation"]
    upright(panel, "thresholds of tasks, least and largest", separation["threshold"]["min"], "#000", "5,3")
    upright(panel, "", separation["threshold"]["max"], "#000", "5,3")
    upright(panel, "least d_ref", separation["d_ref"]["min"], "#999", "2,3")
    return panel.parts


def draw_relative(study):
    panel = Panel(HEIGHT, "the same, over multiples of each task's own threshold", (1e-5, 1e6), (0.0, 1.0), True, False)
    curve = study["relative_curve"]
    draw_rates(panel, curve, curve["false_slash"])
    panel.line("honest, resampled", list(zip(curve["threshold"], curve["resampled"])), "#000", 1, "2,2")
    upright(panel, "the rule", 1.0, "#000", "5,3")
    return panel.parts


def draw_segments(study):
    runs = [[drift * 1e-9 for drift in task["drift_ppb"]] for task in study["tasks"] if max(task["drift_ppb"]) > 0]
    length = len(runs[0])
    panel = Panel(2 * HEIGHT, "honest drift over the segments of a run", (1, length), (1e-8, 1.0), False, True)
    for colour, run in zip(COLOURS * len(runs), runs):
        panel.line("", [(i + 1, drift) for i, drift in enumerate(run)], colour, 0.5)
    medians = [sorted(run[i] for run in runs)[len(runs) // 2] for i in range(length)]
    panel.line("median", [(i + 1, drift) for i, drift in enumerate(medians)], "#000", 2.5)
    threshold = study["separation"]["threshold"]["median"]
    panel.line("median of thresholds", [(1, threshold), (length, threshold)], "#000", 1, "5,3")
    return panel.parts


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        study = json.load(source)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {3 * HEIGHT}" font-family="sans-serif" '
             f'font-size="11">', f'<rect width="{WIDTH}" height="{3 * HEIGHT}" fill="#fff"/>']
    parts += draw_absolute(study) + draw_relative(study) + draw_segments(study) + ["</svg>"]
    with open(sys.argv[2], "w", encoding="utf-8") as target:
        target.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
