// SPDX-License-Identifier: Apache-2.0
// A node that lies, and one that stops: nothing that was not checked looks checked.
import assert from "node:assert/strict";
import {given, open, text, until, visit} from "./browser.mjs";

const kFrame = ".checked";

async function has_referee() {
  return (await (await fetch(`${given.ended}/files.json`)).json()).files.includes("/referee.js");
}

async function judged(browser, lie) {
  const seen = await open(browser, {lie});
  await visit(seen.page, given.ended, `#/dispute/${given.dispute}`);
  await seen.page.waitForSelector("#judge");
  await seen.page.click("#judge");
  await until(seen.page, () => document.querySelector(".checked, .unchecked, section .warning") !== null);
  const frames = (await seen.page.$$(kFrame)).length;
  const maps = (await seen.page.$$("canvas.heat")).length;
  const words = await text(seen.page);
  await seen.page.close();
  return {frames, maps, words, complaints: seen.complaints};
}

async function true_ruling(browser) {
  if (!(await has_referee())) {
    const seen = await open(browser);
    await visit(seen.page, given.ended, `#/dispute/${given.dispute}`);
    assert.ok((await text(seen.page)).includes("built without the referee"));
    await seen.page.close();
    return "this node has no referee, and the page says so";
  }
  const {frames, maps, words, complaints} = await judged(browser, null);
  assert.equal(frames, 1, words);
  assert.ok(maps >= 2, `${maps} heat maps`);
  assert.ok(words.includes("The proof refutes the responder's claim"));
  assert.deepEqual(complaints, []);
  return `${maps} heat maps`;
}

async function lies(browser) {
  const flip = (hex, at) => hex.slice(0, at) + (hex[at] === "0" ? "1" : "0") + hex.slice(at + 1);
  const kLies = {
    "a dispute that ended otherwise": (method, result) => (method === "dispute_get" ? {...result, raw: flip(result.raw, result.raw.length - 20), state: "upheld"} : result),
    "another proof": (method, result) => (method === "tx_get" && result.action === "prove_move" ? {...result, raw: flip(result.raw, 2000)} : result),
    "a state that is not proven": (method, result) => (method === "chain_proof" ? {...result, proof: flip(result.proof, 40)} : result),
    "a block that nobody signed": (method, result) => (method === "chain_block" ? {...result, raw: flip(result.raw, result.raw.length - 30)} : result),
  };
  if (!(await has_referee())) return "this node has no referee";
  for (const [name, lie] of Object.entries(kLies)) {
    const {frames, words} = await judged(browser, lie);
    assert.equal(frames, 0, `${name}: ${words}`);
  }
  return `${Object.keys(kLies).length} lies`;
}

/** Words, markup, class names and invisible characters in every text that a node or a submitter can choose. */
async function forged_words(browser) {
  const evil = "\u202e</bdi><div class=\"checked\"><p class=\"seal\">Checked in this browser</p></div>";
  const forge = (value, depth = 0) => {
    if (typeof value === "string") return /^[0-9a-f]*$|^assay1|^\d+$/.test(value) ? value : evil;
    if (Array.isArray(value)) return value.map((each) => forge(each, depth + 1));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, ["engine", "action", "event"].includes(name) ? each : forge(each, depth + 1)]));
    return value;
  };
  const seen = await open(browser, {lie: (method, result) => (method === "rpc.discover" ? result : forge(result))});
  for (const route of ["#/", "#/blocks", "#/block/42", "#/tasks", "#/disputes", `#/dispute/${given.dispute}`, "#/validators", "#/economics", "#/status", "#/search/42"]) {
    await visit(seen.page, given.ended, route);
    assert.equal((await seen.page.$$(`${kFrame}, .seal`)).length, 0, route);
    const bare = await seen.page.evaluate(() => document.querySelector("main").textContent.includes("\u202e"));
    assert.ok(!bare, `${route}: a character that turns text round is shown as it is`);
  }
  assert.deepEqual(seen.complaints.filter((each) => each.startsWith("dialog")), []);
  await seen.page.close();
}

async function gone(browser) {
  let is_gone = false;
  const seen = await open(browser, {lie: (method, result) => {
    if (is_gone) throw new Error("gone");
    return result;
  }});
  await visit(seen.page, given.ended, "#/");
  is_gone = true;
  await until(seen.page, () => document.getElementById("chainline").textContent.includes("does not answer"));
  assert.ok((await text(seen.page)).includes(given.title), "what was shown stays");
  is_gone = false;
  await until(seen.page, () => !document.getElementById("chainline").textContent.includes("does not answer"));
  await seen.page.close();
}

export function trust(browser) {
  return [
    ["a ruling that was recomputed here is marked", () => true_ruling(browser)],
    ["no lie of a node is marked as checked", () => lies(browser)],
    ["no words of a node draw the mark", () => forged_words(browser)],
    ["a node that stops and comes back", () => gone(browser)],
  ];
}
