// SPDX-License-Identifier: Apache-2.0
// The eight stages of a task as one drawing: in a row where there is room, in a column where there is not.
import {h, s} from "./dom.js";

const kTone = {done: "done", now: "now", ahead: "ahead", skipped: "skipped", settled: "good", convicted: "bad"};
const kMark = {done: "✓", now: "●", skipped: "–", settled: "✓", convicted: "✕", cancelled: "–", expired: "–", refused: "–"};
const kSay = {done: "done", now: "under way", ahead: "ahead", skipped: "not needed"};

function draw(stages, place, width, height, kind) {
  const words = stages.map((each, i) => `${i + 1} ${each.name}: ${kSay[each.status] ?? each.status}`).join("; ");
  const parts = [];
  for (let i = 0; i + 1 < stages.length; ++i) {
    const [x, y] = place(i);
    const [x2, y2] = place(i + 1);
    parts.push(s("line", {x1: x, y1: y, x2, y2, class: `rail ${stages[i + 1].status === "ahead" ? "ahead" : ""}`}));
  }
  stages.forEach((each, i) => {
    const [x, y] = place(i);
    const tone = kTone[each.status] ?? "skipped";
    const beside = kind === "tall";
    const anchor = beside ? "start" : "middle";
    const at = each.at === null ? (kSay[each.status] ?? each.status) : `block ${each.at.toLocaleString("en")}`;
    parts.push(s("g", {class: `stage ${tone}`},
      s("circle", {cx: x, cy: y, r: 15}),
      s("text", {x, y: y + 5, "text-anchor": "middle", class: "mark"}, kMark[each.status] ?? String(i + 1)),
      s("text", {x: beside ? x + 28 : x, y: beside ? y - 1 : y + 36, "text-anchor": anchor, class: "name"}, each.name),
      s("text", {x: beside ? x + 28 : x, y: beside ? y + 15 : y + 53, "text-anchor": anchor, class: "at"}, at)));
  });
  return s("svg", {class: `strip ${kind}`, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `The eight stages. ${words}.`}, parts);
}

export function strip(stages) {
  return h("div", {class: "strips"},
    draw(stages, (i) => [60 + i * 120, 24], 960, 84, "wide"),
    draw(stages, (i) => [20, 22 + i * 46], 300, 366, "tall"));
}
