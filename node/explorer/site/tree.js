// SPDX-License-Identifier: Apache-2.0
// A dispute as a drawing: each round the responder reveals hashes and the challenger selects one, down to one partial.
import {h, s} from "./dom.js";

const kWidth = 720;
const kRow = 74;
const kLeft = 150;
const kNames = {steps: "steps", nodes: "nodes of the step", tiles: "tiles of the node", partials: "partials of the tile"};

/**
 * The rounds of a dispute out of its moves: [{round, level, children, selected, op, reveal, select}]. `bodies` has the decoded
 * transaction of each move in the same order (null where the node does not have it), `levels` the level of each round.
 */
export function rounds_of(moves, bodies, levels) {
  const rounds = [];
  moves.forEach((move, i) => {
    const body = bodies[i]?.body;
    if (move.action === "reveal_move") {
      const round = body?.round ?? rounds.length;
      rounds.push({round, level: levels.get(round) ?? null, children: body?.children ?? null, selected: null, op: null,
        reveal: move, select: null});
    } else if (move.action === "select_move" && rounds.length > 0) {
      const last = rounds[rounds.length - 1];
      last.selected = body?.child ?? null;
      last.op = body?.op ?? null;
      last.select = move;
    }
  });
  return rounds;
}

function band(round, y, from, to) {
  const right = kWidth - 20;
  const width = right - kLeft;
  const many = round.children ?? 1;
  const cell = width / many;
  const parts = [];
  if (from) {
    parts.push(s("path", {class: "cone", d: `M${from[0]} ${y - kRow + 26}L${from[1]} ${y - kRow + 26}L${right} ${y}L${kLeft} ${y}Z`}));
  }
  parts.push(s("rect", {class: "band", x: kLeft, y, width, height: 26}));
  if (many <= 256) {
    for (let i = 1; i < many; ++i) {
      parts.push(s("line", {class: "tick", x1: kLeft + i * cell, x2: kLeft + i * cell, y1: y, y2: y + 26}));
    }
  }
  let span = null;
  if (round.selected !== null) {
    span = [kLeft + round.selected * cell, kLeft + round.selected * cell + Math.max(cell, 2)];
    parts.push(s("rect", {class: "agreed", x: kLeft, y, width: Math.max(0, span[0] - kLeft), height: 26}));
    parts.push(s("rect", {class: "chosen", x: span[0], y, width: span[1] - span[0], height: 26}));
  }
  const name = Object.hasOwn(kNames, round.level ?? "") ? kNames[round.level] : "one of";
  parts.push(s("text", {class: "level", x: kLeft - 12, y: y + 12, "text-anchor": "end"}, name));
  parts.push(s("text", {class: "at", x: kLeft - 12, y: y + 28, "text-anchor": "end"}, `round ${round.round + 1}: ${many} revealed`));
  to.span = span;
  return parts;
}

function leaf(text, y, span, tone) {
  return [
    span ? s("path", {class: "cone", d: `M${span[0]} ${y - kRow + 26}L${span[1]} ${y - kRow + 26}L${kLeft + 200} ${y}L${kLeft} ${y}Z`}) : null,
    s("rect", {class: `leaf ${tone}`, x: kLeft, y, width: kWidth - 20 - kLeft, height: 34, rx: 6}),
    s("text", {class: "leaf", x: kLeft + 14, y: y + 22}, text),
  ];
}

/** The place that a dispute has come to, from the outside in, as text: "segment 5 › step 100 › node 79 (matmul)". */
export function place_of(the_dispute) {
  const at = the_dispute.pinpoint ?? {};
  const parts = [`segment ${the_dispute.segment}`];
  if (at.step !== null && at.step !== undefined) parts.push(`step ${at.step}`);
  if (at.node !== null && at.node !== undefined) parts.push(`node ${at.node}${at.op ? ` (${at.op})` : ""}`);
  if (at.tile !== null && at.tile !== undefined) parts.push(`tile ${at.tile}`);
  if (at.partial !== null && at.partial !== undefined) parts.push(`partial ${at.partial}`);
  if (at.tensor !== null && at.tensor !== undefined) parts.push(`tensor ${at.tensor}`);
  return parts;
}

export function tree(the_dispute, rounds) {
  const height = 60 + (rounds.length + 1) * kRow;
  const parts = [
    s("rect", {class: "band root", x: kLeft, y: 8, width: kWidth - 20 - kLeft, height: 26}),
    s("text", {class: "level", x: kLeft - 12, y: 26, "text-anchor": "end"}, `segment ${the_dispute.segment}`)];
  let span = [kLeft, kWidth - 20];
  rounds.forEach((round, i) => {
    const to = {};
    parts.push(band(round, 8 + (i + 1) * kRow, i === 0 ? span : span, to));
    span = to.span;
  });
  const is_over = !["active", "awaiting"].includes(the_dispute.state);
  const place = place_of(the_dispute);
  const text = (is_over ? `${the_dispute.state} at ` : "now at ") + place.slice(1).join(" › ");
  const tone = the_dispute.state === "refuted" ? "bad" : the_dispute.state === "upheld" ? "good" : "calm";
  parts.push(leaf(place.length > 1 ? text : "no step is in question yet", 8 + (rounds.length + 1) * kRow, span, tone));
  const words = rounds.map((r) => `round ${r.round + 1} at level ${r.level ?? "unknown"}: ${r.children ?? "some"} hashes revealed, ` +
    (r.selected === null ? "none selected yet" : `number ${r.selected} selected`)).join("; ");
  return h("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "The bisection, drawn"},
    s("svg", {class: "tree", viewBox: `0 0 ${kWidth} ${height}`, role: "img",
      "aria-label": `From segment to partial. ${words || "No round has been played"}. ${text}.`}, parts));
}
