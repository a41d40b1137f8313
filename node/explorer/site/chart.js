// SPDX-License-Identifier: Apache-2.0
// A line chart for scores and distances, and heat maps for the values of a tile.
import {h, s} from "./dom.js";

const kWidth = 640;
const kHeight = 220;

/**
 * Points over a whole-numbered axis. `series`: [{name, kind, points: [[x, y]]}], kind "line", "rings" or "bars"; `limit`: a line
 * across, {name, y}. Values that are not finite are left out.
 */
export function chart({caption, x_name, y_name, series, limit = null}) {
  const points = series.flatMap((each) => each.points).filter(([, y]) => Number.isFinite(y));
  if (points.length === 0) return null;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y).concat(limit ? [limit.y] : []);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const low = Math.min(...ys);
  const high = Math.max(...ys);
  const pad = (high - low || Math.abs(high) || 1) * 0.15;
  const [y0, y1] = [limit ? 0 : low - pad, high + pad];
  const at = ([x, y]) => [64 + (x1 === x0 ? 0.5 : (x - x0) / (x1 - x0)) * (kWidth - 96), kHeight - 40 - ((y - y0) / (y1 - y0)) * (kHeight - 64)];
  const parts = [
    s("line", {class: "axis", x1: 52, x2: kWidth - 16, y1: kHeight - 34, y2: kHeight - 34}),
    s("text", {class: "at", x: kWidth - 16, y: kHeight - 8, "text-anchor": "end"}, x_name),
    s("text", {class: "at", x: 8, y: 14}, y_name)];
  for (const y of [y0 + pad, y1 - pad]) {
    parts.push(s("text", {class: "at", x: 8, y: at([x0, y])[1] + 4}, Number(y.toPrecision(4)).toString()));
  }
  for (const x of new Set([x0, x1])) {
    parts.push(s("text", {class: "at", x: at([x, y0])[0], y: kHeight - 18, "text-anchor": "middle"}, String(x)));
  }
  for (const {name, kind, points: own} of series) {
    const places = own.filter(([, y]) => Number.isFinite(y)).map(at);
    if (kind === "line") {
      parts.push(s("polyline", {class: "curve", points: places.map((p) => p.join(",")).join(" ")}));
      continue;
    }
    for (const [x, y] of places) {
      if (kind === "bars") parts.push(s("rect", {class: "bar", x: x - 9, y, width: 18, height: Math.max(1, kHeight - 34 - y)}));
      else parts.push(s("circle", {class: kind, cx: x, cy: y, r: kind === "rings" ? 9 : 4}, s("title", null, name)));
    }
  }
  if (limit) {
    const y = at([x0, limit.y])[1];
    parts.push(s("line", {class: "limit", x1: 52, x2: kWidth - 16, y1: y, y2: y}), s("text", {class: "at", x: kWidth - 20, y: y - 6, "text-anchor": "end"}, limit.name));
  }
  return h("figure", null, s("svg", {class: "chart", viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", "aria-label": caption}, parts), h("figcaption", null, caption));
}

function colour(value, scale) {
  if (!Number.isFinite(value)) return [200, 0, 200];
  const t = Math.max(-1, Math.min(1, value / scale));
  const strength = Math.sqrt(Math.abs(t));
  const end = t < 0 ? [38, 98, 178] : [196, 96, 28];
  return end.map((c) => Math.round(244 + (c - 244) * strength));
}

/**
 * A matrix as a square picture, blue below zero and orange above. `values` are rows * cols numbers in row-major order; `scale`
 * is the value with the full colour; `kept` is a key that changes with the values.
 */
export function heat_map(title, values, rows, cols, scale, kept) {
  const canvas = h("canvas", {width: cols, height: rows, class: "heat", role: "img"});
  const context = canvas.getContext("2d");
  const image = context.createImageData(cols, rows);
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < rows * cols; ++i) {
    const value = Number(values[i]);
    if (Number.isFinite(value)) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    image.data.set([...colour(value, scale || 1), 255], i * 4);
  }
  context.putImageData(image, 0, 0);
  const words = `${rows} by ${cols} values from ${Number(least.toPrecision(4))} to ${Number(most.toPrecision(4))}`;
  canvas.setAttribute("aria-label", `${title}: ${words}`);
  return h("figure", {class: "heat", "data-keep": `${kept} ${scale}`}, canvas, h("figcaption", null, h("strong", null, title), h("br"), words));
}

/** The largest magnitude among numbers that are finite; 1 where all are zero. */
export function scale_of(...lists) {
  let most = 0;
  for (const list of lists) {
    for (const value of list) {
      const magnitude = Math.abs(Number(value));
      if (Number.isFinite(magnitude) && magnitude > most) most = magnitude;
    }
  }
  return most || 1;
}
