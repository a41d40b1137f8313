// SPDX-License-Identifier: Apache-2.0
// Values of the RPC as people read them: amounts, ids, times, and text that strangers wrote.
import {h} from "./dom.js";

const kGrains = 1_000_000_000n;

/** A decimal string of grains in ASY, exact, with thin thousands. "-" for null. */
export function asy(grains) {
  if (grains === null || grains === undefined) return "-";
  const value = BigInt(grains);
  const whole = (value / kGrains).toLocaleString("en");
  const rest = (value % kGrains).toString().padStart(9, "0").replace(/0+$/, "");
  return `${whole}.${rest.padEnd(3, "0")} ASY`;
}

export const count = (value) => (value === null || value === undefined ? "-" : Number(value).toLocaleString("en"));

export function bytes(value) {
  if (value === null || value === undefined) return "-";
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let size = Number(value);
  while (size >= 1024 && at + 1 < units.length) {
    size /= 1024;
    ++at;
  }
  return `${at === 0 ? size : size.toFixed(1)} ${units[at]}`;
}

/** A span of time in words: "3 min". */
export function span(ms) {
  const seconds = Math.max(0, ms / 1000);
  if (seconds < 1) return `${Math.round(ms)} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

export function time(ms) {
  if (!ms) return "-";
  const date = new Date(ms);
  const text = date.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  return h("time", {datetime: date.toISOString()}, text);
}

/** So many blocks, with about how long they take. */
export function blocks(number, interval_ms) {
  const text = `${count(number)} ${number === 1 ? "block" : "blocks"}`;
  return interval_ms ? `${text} (about ${span(number * interval_ms)})` : text;
}

export const shorten = (id) => (id.length > 20 ? `${id.slice(0, 12)}…${id.slice(-6)}` : id);

function link(kind, id, label) {
  if (id === null || id === undefined) return "-";
  return h("a", {href: `#/${kind}/${encodeURIComponent(id)}`, class: "id", title: String(id)}, label ?? shorten(String(id)));
}

export const account = (id) => link("account", id);
export const tx = (id) => link("tx", id);
export const task = (id, label) => link("task", id, label);
export const dispute = (id) => link("dispute", id);
export const block = (height) => (height ? link("block", height, count(height)) : "-");
export const hash = (id) => (id ? h("code", {class: "id", title: id}, shorten(id)) : "-");
export const whole = (id) => (id ? h("code", {class: "whole"}, id) : "-");

/** Text that a stranger chose: in an element that says so, isolated from the text around it. */
export function stranger(text) {
  return h("bdi", {class: "stranger"}, String(text ?? "").slice(0, 400));
}

const kTones = {
  settled: "good", accepted: "good", executed: "good", upheld: "calm", convicted: "bad", failed: "bad", refuted: "bad", rejected: "bad",
  active: "busy", awaiting: "busy", training: "busy", verifying: "busy", challenge: "busy", disclosure: "busy", profiling: "busy",
  pending: "busy", missed: "bad", broken: "bad", contradicted: "bad",
};

/** A state as a pill. The word says it; the colour repeats it. */
export function state(name) {
  return h("span", {class: `pill ${Object.hasOwn(kTones, name) ? kTones[name] : "calm"}`}, name ?? "-");
}

/** A value of a decoded body, whatever it is: lists and objects as nested definitions. */
export function anything(value, depth = 0) {
  if (value === null || value === undefined) return "-";
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    return h("ol", {class: "nested"}, value.slice(0, 64).map((each) => h("li", null, anything(each, depth + 1))),
      value.length > 64 ? h("li", null, `and ${value.length - 64} more`) : null);
  }
  if (typeof value === "object" && depth < 6) {
    return h("dl", {class: "facts nested"}, Object.entries(value).map(([name, each]) =>
      h("div", null, h("dt", null, name), h("dd", null, anything(each, depth + 1)))));
  }
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value) ? whole(value) : stranger(value);
}
