#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the loss curves that `assay-bench curves` printed: python3 plot_curves.py curves.json curves.svg

One line for each run, smoothed over a fiftieth of the steps; native runs are thin and grey, canonical ones coloured by
profile, those with a boundary by its bits, those with narrow moments by their type. The final loss of each is the mean over its last tenth.

Of replicas, coloured by how they exchange, it draws the losses of held-out rows, and prints a table of the last ones: the spread is the range of the seeds of the
dense runs with the same optimizer, and differences of means from theirs are given in it.
"""
import json
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 190, 40, 45
COLOURS = {"XG-21": "#1b6ca8", "XG-24": "#6a3d9a", "XG-11": "#e7298a", "XG-8": "#d95f02", "XG-7": "#1b9e77",
           "dense": "#1b6ca8", "sgd": "#666666", "dgc": "#d95f02", "diloco": "#6a3d9a", "diloco-int4": "#b15928", "sparseloco": "#1b9e77",
           "streaming": "#e7298a",
           "aqsgd-2": "#d95f02", "aqsgd-3": "#6a3d9a", "aqsgd-4": "#1b9e77",
           "f32 moments": "#1b6ca8", "bf16 moments": "#d95f02", "int8 moments": "#1b9e77"}


def kind_of(run):
    """What a run's line is named and coloured by."""
    if "moments" in run:
        return f"{run['moments']} moments"
    return run["executor"] if run["executor"] in COLOURS else run.get("profile", "native fp32")


def smooth(losses, window):
    """Moving means, so that the noise of single batches does not hide the curve."""
    out, total = [], 0.0
    for i, loss in enumerate(losses):
        total += loss
        if i >= window:
            total -= losses[i - window]
        out.append(total / min(i + 1, window))
    return out


def final(run):
    if "points" in run:
        return run["points"][-1]["loss"]
    tail = run["losses"][-max(1, len(run["losses"]) // 10):]
    return sum(tail) / len(tail)


def table(result):
    """Lines of the last losses of held-out rows, by exchange."""
    finals = {}
    for run in result["runs"]:
        finals.setdefault(run["executor"], []).append(run["points"][-1])
    for exchange, last in finals.items():
        losses = [point["loss"] for point in last]
        mean = sum(losses) / len(losses)
        beside = [point["loss"] for point in finals.get("sgd" if exchange in ("sgd", "dgc") else "dense", [])]
        spread = max(beside) - min(beside) if beside else 0.0
        cells = [exchange, *(f"{loss:.4f}" for loss in losses), f"{mean:.4f}"]
        if spread > 0:
            cells.append(f"{(mean - sum(beside) / len(beside)) / spread:+.2f}")
        if "accuracy" in last[0]:
            cells.append(", ".join(f"{100 * point['accuracy']:.1f} %" for point in last))
        yield "| " + " | ".join(cells) + " |"


def draw(result):
    runs = result["runs"]
    # The curves, and the steps from one of a curve's places to the next.
    interval = result["replicas"]["turn_steps"] if "replicas" in result else 1
    if "replicas" in result:
        curves = [[point["loss"] for point in run["points"]] for run in runs]
    else:
        curves = [smooth(run["losses"], max(1, len(run["losses"]) // 50)) for run in runs]
    steps = max(len(curve) for curve in curves)
    low = min(min(curve) for curve in curves)
    high = max(curve[0] for curve in curves)
    span = (high - low) or 1.0
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(step):
        return LEFT + plot_width * step / max(1, steps - 1)

    def y(loss):
        return TOP + plot_height * (high - min(loss, high)) / span

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(result["title"])}</text>',
    ]
    for i in range(5):
        loss = low + span * i / 4
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(loss):.1f}" y2="{y(loss):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(loss) + 4:.1f}" text-anchor="end">{loss:.2f}</text>')
        step = (steps - 1) * i // 4
        parts.append(f'<text x="{x(step):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{step * interval}</text>')
    parts.append(f'<text x="{LEFT + plot_width / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">step</text>')
    order = sorted(range(len(runs)), key=lambda i: runs[i]["executor"] != "native")
    for i in order:
        run = runs[i]
        colour = COLOURS.get(kind_of(run), "#999")
        width = 0.8 if run["executor"] == "native" else 1.6
        points = " ".join(f"{x(step):.1f},{y(loss):.1f}" for step, loss in enumerate(curves[i]))
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" points="{points}"/>')
    parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP}">{"last held-out loss" if "replicas" in result else "final loss"}</text>')
    for line, i in enumerate(order):
        run = runs[i]
        name = f'{kind_of(run)}, seed {run["seed"]}: {final(run):.4f}'
        top = TOP + 18 * (line + 1)
        colour = COLOURS.get(kind_of(run), "#999")
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" x2="{WIDTH - RIGHT + 26}" y1="{top - 4}" y2="{top - 4}" '
                     f'stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 31}" y="{top}" font-size="11">{escape(name)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        result = json.load(source)
    if "replicas" in result:
        print("\n".join(table(result)))
    with open(sys.argv[2], "w", encoding="utf-8") as target:
        target.write(draw(result))


if __name__ == "__main__":
    main()
