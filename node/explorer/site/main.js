// SPDX-License-Identifier: Apache-2.0
// Routes, the line about the chain, and the next block.
import {h, morph} from "./dom.js";
import {span} from "./format.js";
import {follow} from "./live.js";
import {RpcError, call} from "./rpc.js";

// Each page is a module that exports render(context): a promise of {title, content}. context: {args, query, signal, status}.
const kPages = {
  "": () => import("./pages/home.js"),
  blocks: () => import("./pages/blocks.js"),
  block: () => import("./pages/block.js"),
  tx: () => import("./pages/tx.js"),
  tasks: () => import("./pages/tasks.js"),
  task: () => import("./pages/task.js"),
  disputes: () => import("./pages/disputes.js"),
  dispute: () => import("./pages/dispute.js"),
  validators: () => import("./pages/validators.js"),
  account: () => import("./pages/account.js"),
  economics: () => import("./pages/economics.js"),
  liability: () => import("./pages/liability.js"),
  status: () => import("./pages/status.js"),
  search: () => import("./pages/search.js"),
};

const main = document.getElementById("main");
const line = document.getElementById("chainline");
const announce = document.getElementById("announce");
let shown = null; // the route that main shows
let running = null;
let again = false;

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...args] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return {name, args, query: new URLSearchParams(query ?? ""), key: location.hash};
}

function mark_nav(name) {
  const owner = {block: "blocks", tx: "blocks", task: "tasks", dispute: "disputes", account: "validators"}[name] ?? name;
  for (const a of document.querySelectorAll("#nav a")) {
    if (a.getAttribute("href") === `#/${owner}`) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
}

function failure(error) {
  const is_missing = error instanceof RpcError && ["not_found", "invalid_params", "unavailable"].includes(error.name);
  const words = error instanceof RpcError ? error.message : `this page failed: ${error.message}`;
  if (!(error instanceof RpcError)) console.error(error);
  return {
    title: is_missing ? "Not found" : "No answer",
    content: h("div", {class: "card"}, h("h1", null, is_missing ? "There is no such thing here" : "The node gave no answer"),
      h("p", null, "The node says: ", h("bdi", {class: "stranger"}, words)),
      h("p", null, h("a", {href: "#/"}, "Back to the first page"))),
  };
}

function status_line(status) {
  const age = Date.now() - status.time_ms;
  return h("p", null, h("span", {class: "dot", "aria-hidden": "true"}), h("bdi", {class: "stranger"}, status.chain_id),
    " height ", h("a", {href: `#/block/${status.height}`}, status.height.toLocaleString("en")),
    `, last block ${span(age)} ago, one every ${span(status.block_interval_ms)}`,
    status.mempool.txs > 0 ? `, ${status.mempool.txs} waiting` : "");
}

/** The page of a route: {title, content}. Throws what a call that failed throws. */
async function page_of(to, signal) {
  const status = await call("node_status", {}, signal);
  const module = await (Object.hasOwn(kPages, to.name) ? kPages[to.name] : kPages.search)();
  morph(line, h("div", null, status_line(status)));
  return module.render({...to, signal, status, redraw: () => update()});
}

function show(page, to, is_new) {
  document.title = `${page.title} - Assay explorer`;
  const fresh = h("div", null, h("div", {class: "page"}, page.content));
  if (!is_new) {
    morph(main, fresh);
    return;
  }
  main.replaceChildren(...fresh.childNodes);
  shown = to.key;
  mark_nav(to.name);
  announce.textContent = page.title;
  scrollTo(0, 0);
  main.dataset.ready = to.key || "#/";
}

async function draw(is_new) {
  const to = route();
  const control = new AbortController();
  running?.abort();
  running = control;
  let page = null;
  try {
    page = await page_of(to, control.signal);
  } catch (error) {
    // What is shown stays where only the next block's news could not be had.
    const is_lost = error instanceof RpcError && error.name === "offline";
    if (!control.signal.aborted && (is_new || !is_lost)) page = failure(error);
  }
  if (control.signal.aborted) return; // another route is on its way
  running = null;
  if (page) show(page, to, is_new);
}

async function navigate() {
  main.removeAttribute("data-ready");
  const had = shown;
  await draw(true);
  if (had !== null) main.focus({preventScroll: true});
}

/** The same page with what is new; one at a time. */
async function update() {
  if (running || shown === null) {
    again = true;
    return;
  }
  again = false;
  await draw(false);
  if (again) update();
}

document.getElementById("skip").onclick = (event) => {
  event.preventDefault();
  main.focus();
};
document.getElementById("search").onsubmit = (event) => {
  event.preventDefault();
  const text = document.getElementById("query").value.trim();
  if (text) location.hash = `#/search/${encodeURIComponent(text)}`;
};
addEventListener("hashchange", navigate);
await navigate();
follow(({is_live}) => {
  document.body.classList.toggle("lost", !is_live);
  if (is_live) update();
  else morph(line, h("div", null, h("p", null, h("span", {class: "dot", "aria-hidden": "true"}), "The node does not answer. Trying again.")));
});

