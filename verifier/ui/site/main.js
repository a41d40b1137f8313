// SPDX-License-Identifier: Apache-2.0
// Draws the state of the program, and draws it again when the stream of events says that it is another one.
import {h, morph} from "./dom.js";
import {count, stranger} from "./format.js";
import {get, has_token, listen} from "./api.js";
import {disputes, earnings, money} from "./money.js";
import {setup} from "./setup.js";
import {machine, settings, status, work} from "./work.js";

const kLeast = 700; // ms between two drawings
const main = document.getElementById("main");
const line = document.getElementById("chainline");
const announce = document.getElementById("announce");
let state = null;
let complaint = "";
let timer = null;
let drawn_at = 0;
let asked = 0; // states asked for
let drawn = 0; // the one of them that is drawn
let is_over = false;

const app = {
  draw,
  /** A handler of a button: runs `work`, shows what it throws, and asks for the new state. */
  action(work) {
    return async () => { await attempt(work); };
  },
  /** A handler of a form: runs `work` with its fields, and empties them if it succeeded unless `keeps`. */
  form(work, failed = null, {keeps = false} = {}) {
    return async (event) => {
      event.preventDefault();
      const element = event.currentTarget;
      const button = element.querySelector("button[type=submit]");
      button.disabled = true;
      const done = await attempt(() => work(new FormData(element)), failed);
      button.disabled = false;
      if (done && !keeps) element.reset();
      else for (const secret of element.querySelectorAll("input[type=password]")) secret.value = "";
    };
  },
};

async function attempt(work, failed = null) {
  let is_done = true;
  complaint = ""; // before the answer: an event can draw what `work` changed before the answer is here
  try {
    await work();
  } catch (error) {
    is_done = false;
    complaint = error.message;
    announce.textContent = error.message;
    if (error.reason === "input") failed?.();
  }
  await refresh();
  return is_done;
}

function chain_line() {
  const {node, proven} = state;
  return h("p", null, h("span", {class: "dot", "aria-hidden": "true"}),
    node.error ? "The node does not answer" : [stranger(node.chain_id ?? ""), ` block ${count(proven?.height)}`]);
}

function draw() {
  const content = state.account === null ? setup(app)
    : [status(app, state), work(state), money(app, state), earnings(state), settings(app, state), machine(app, state), disputes(state)];
  morph(main, h("div", null, h("h1", null, state.account === null ? "Put this machine to work" : "This machine's work"),
    h("p", {class: "complaint", id: "complaint", role: "alert"}, complaint), content));
  morph(line, h("div", null, chain_line()));
  document.body.classList.toggle("lost", Boolean(state.node.error));
  main.dataset.ready = "true";
}

function lose(error) {
  document.body.classList.add("lost");
  if (error.reason === "token") {
    is_over = true;
    morph(main, h("div", null, h("h1", null, "This link is an old one"), h("p", null, error.message)));
  }
  morph(line, h("div", null, h("p", null, h("span", {class: "dot", "aria-hidden": "true"}), error.message)));
}

async function refresh() {
  clearTimeout(timer);
  timer = null;
  drawn_at = performance.now();
  const mine = ++asked;
  try {
    const answer = await get("/api/state");
    if (mine < drawn) return; // an answer to a later question was faster
    drawn = mine;
    state = answer;
  } catch (error) {
    lose(error);
    return;
  }
  draw();
}

function soon() {
  if (!is_over) timer ??= setTimeout(refresh, Math.max(0, drawn_at + kLeast - performance.now()));
}

document.getElementById("skip").onclick = (event) => {
  event.preventDefault();
  main.focus();
};
if (has_token()) {
  await refresh();
  listen(soon, lose);
} else {
  morph(main, h("div", null, h("h1", null, "This page needs its link"),
    h("p", null, "Open the file ", h("code", null, "ui.html"), " in the folder of this worker: it leads here with the token that only you can read.")));
  main.dataset.ready = "true";
}
