// SPDX-License-Identifier: Apache-2.0
// Elements out of text. Nothing here, and nothing elsewhere in the site, parses markup: what strangers wrote (titles,
// addresses, names) becomes text nodes and attributes of a fixed list.

const kSvg = "http://www.w3.org/2000/svg";
const kSvgNames = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "title", "desc", "tspan", "polyline", "a"]);
const kHandlers = ["onclick", "onchange", "onsubmit", "oninput"];

// Characters that are not seen, or that change the order of others: they are shown by their number, wherever they come from.
const kHidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(text) {
  return String(text).replace(kHidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function add(node, child) {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) {
    for (const each of child) add(node, each);
  } else {
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (kHandlers.includes(name)) node[name] = value;
    else if (name.startsWith("on")) throw new Error(`no handler ${name}`);
    else node.setAttribute(name, value === true ? "" : visible(value));
  }
  add(node, children);
  return node;
}

/** An HTML element: h("a", {href: "#/"}, "Home"). Children are nodes, text, or lists of both; null is nothing. */
export function h(name, attributes, ...children) {
  return make(document.createElement(name), attributes, children);
}

/** An SVG element, likewise. */
export function s(name, attributes, ...children) {
  if (!kSvgNames.has(name)) throw new Error(`no SVG element ${name}`);
  return make(document.createElementNS(kSvg, name), attributes, children);
}

function sync(old, fresh) {
  for (const {name} of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const {name, value} of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
  }
  for (const handler of kHandlers) old[handler] = fresh[handler];
}

/**
 * Makes `old` look like `fresh` and keeps the nodes that stay, so that focus, selection, scrolling and opened details
 * survive the next block. An element with a `data-keep` is left alone as long as the value is the same.
 */
export function morph(old, fresh) {
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    if (at === null) {
      old.append(next);
      continue;
    }
    const after = at.nextSibling;
    if (at.nodeType !== next.nodeType || at.nodeName !== next.nodeName) {
      at.replaceWith(next);
    } else if (at.nodeType === Node.TEXT_NODE) {
      if (at.data !== next.data) at.data = next.data;
    } else if (at.dataset?.keep !== next.dataset?.keep) {
      at.replaceWith(next);
    } else if (!at.dataset?.keep) {
      sync(at, next);
      morph(at, next);
    }
    at = after;
  }
  while (at !== null) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}

/** A table with a caption for screen readers. `columns` are [heading, class]; `rows` lists of cells. */
export function table(caption, columns, rows, empty = "There is nothing here.") {
  if (rows.length === 0) return h("p", {class: "quiet"}, empty);
  const head = columns.map(([heading, kind]) => h("th", {scope: "col", class: kind}, heading));
  const body = rows.map((cells) => h("tr", null, cells.map((cell, i) => h("td", {class: columns[i][1]}, cell))));
  return h("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": caption},
    h("table", null, h("caption", {class: "hidden"}, caption), h("thead", null, h("tr", null, head)), h("tbody", null, body)));
}

/** Names and values in two columns. `rows` are [name, value] or null; a value of null is shown as a dash. */
export function facts(rows) {
  return h("dl", {class: "facts"}, rows.filter(Boolean).map(([name, value]) =>
    h("div", null, h("dt", null, name), h("dd", null, value ?? "-"))));
}

export function section(title, ...children) {
  const id = "s-" + title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return h("section", {class: "card", "aria-labelledby": id}, h("h2", {id}, title), ...children);
}

/** A paragraph in the tone of an aside. */
export function note(...children) {
  return h("p", {class: "quiet"}, ...children);
}
