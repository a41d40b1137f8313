// SPDX-License-Identifier: Apache-2.0
// A node that lies, and one that stops: nothing that was not checked looks checked.
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {given, open, text, until, visit} from "./browser.mjs";

const kFrame = ".checked";

/**
 * Writes the tile that the demo's cheat claims: what was recomputed with its first element one more. The page's own module of the
 * referee gives the bytes. Returns the path.
 */
export async function claimed_tile(page, folder) {
  const bytes = await page.evaluate(async (id) => {
    const call = async (method, params) => (await (await fetch("/", {method: "POST", headers: {"Content-Type": "application/json"},
      body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params})})).json()).result;
    const {loadReferee} = await import("/referee.js");
    const dispute = await call("dispute_get", {dispute: id});
    const proof = dispute.moves.findLast((move) => move.action === "prove_move");
    const answer = await (await loadReferee()).judge({dispute: dispute.raw, transaction: (await call("tx_get", {hash: proof.tx})).raw});
    return [...answer.recomputed.values.bytes];
  }, given.dispute);
  const tile = Buffer.from(bytes);
  tile.writeFloatLE(tile.readFloatLE(0) + 1, 0);
  const path = join(folder, "tile.bin");
  writeFileSync(path, tile);
  return path;
}

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

async function claimed_values(browser) {
  if (!(await has_referee())) return "this node has no referee";
  const seen = await open(browser);
  await visit(seen.page, given.ended, `#/dispute/${given.dispute}`);
  await seen.page.click("#judge");
  await seen.page.waitForSelector("#claimed");
  const wrong = join(given.scratch, "wrong.bin");
  writeFileSync(wrong, Buffer.alloc(4096));
  await (await seen.page.$("#claimed")).uploadFile(wrong);
  await until(seen.page, () => document.querySelector("main").textContent.includes("Claimed less recomputed") || document.querySelector("#judge") !== null);
  assert.ok(!(await text(seen.page)).includes("Claimed less recomputed"), "bytes with another hash are not shown as claimed");
  await (await seen.page.$("#claimed")).uploadFile(await claimed_tile(seen.page, given.scratch));
  await until(seen.page, () => document.querySelector("main").textContent.includes("Claimed less recomputed"));
  const labels = await seen.page.$$eval("canvas.heat", (all) => all.map((each) => each.getAttribute("aria-label")));
  assert.ok(labels.some((each) => each.startsWith("Claimed less recomputed") && each.endsWith("from 0 to 1")), labels.join("; "));
  assert.deepEqual(seen.complaints, []);
  await seen.page.close();
}

async function history(browser, task, lie) {
  const seen = await open(browser, {lie});
  await visit(seen.page, given.ended, `#/task/${task.id}`);
  await seen.page.click("#check");
  await until(seen.page, () => document.querySelector(".checked, .unchecked, section .warning") !== null);
  const frames = (await seen.page.$$(kFrame)).length;
  const words = await text(seen.page);
  await seen.page.close();
  return {frames, words};
}

async function histories(browser, {task}) {
  if (!(await has_referee())) return "this node has no referee";
  const honest = await history(browser, task, null);
  assert.equal(honest.frames, 1, honest.words);
  const shortened = await history(browser, task, (method, result) => (method === "task_history" && result.records.length > 3 ? {...result, records: result.records.filter((_, i) => i !== 2)} : result));
  assert.equal(shortened.frames, 0, "a history that lacks an event");
}

/** The mark goes when the node changes what it says afterwards. */
async function later_lie(browser) {
  if (!(await has_referee())) return "this node has no referee";
  let lies_now = false;
  const seen = await open(browser, {lie: (method, result) => (lies_now && method === "dispute_get" ? {...result, slashed: "1"} : result)});
  await visit(seen.page, given.ended, `#/dispute/${given.dispute}`);
  await seen.page.click("#judge");
  await seen.page.waitForSelector(kFrame);
  lies_now = true;
  await until(seen.page, () => document.querySelector(".checked") === null);
  await seen.page.close();
}

async function lies(browser) {
  const flip = (hex, at) => hex.slice(0, at) + (hex[at] === "0" ? "1" : "0") + hex.slice(at + 1);
  const kLies = {
    "a dispute that ended otherwise": (method, result) => (method === "dispute_get" ? {...result, raw: flip(result.raw, result.raw.length - 20), state: "upheld"} : result),
    "other words beside the true record": (method, result) => (method === "dispute_get" ? {...result, state: "upheld"} : result),
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
  // The chain has no more blocks, so the test says when the browser has the page's stream again: "open" has it ask for what it missed.
  await seen.page.evaluateOnNewDocument(() => {
    const Source = globalThis.EventSource;
    globalThis.streams = [];
    globalThis.EventSource = class extends Source {
      constructor(...given) {
        super(...given);
        globalThis.streams.push(this);
      }
    };
  });
  await visit(seen.page, given.ended, "#/");
  await until(seen.page, () => globalThis.streams.some((stream) => stream.readyState === EventSource.OPEN));
  const told = (is_lost) => until(seen.page, (wanted) => {
    globalThis.streams.at(-1).dispatchEvent(new Event("open"));
    return document.getElementById("chainline").textContent.includes("does not answer") === wanted;
  }, is_lost);
  is_gone = true;
  await told(true);
  assert.ok((await text(seen.page)).includes(given.title), "what was shown stays");
  is_gone = false;
  await told(false);
  await seen.page.close();
}

export function trust(browser, known) {
  return [
    ["a ruling that was recomputed here is marked", () => true_ruling(browser)],
    ["claimed values that somebody has are compared", () => claimed_values(browser)],
    ["no lie of a node is marked as checked", () => lies(browser)],
    ["a lie that comes after the check takes the mark away", () => later_lie(browser)],
    ["a whole history is marked, one that lacks an event is not", () => histories(browser, known)],
    ["no words of a node draw the mark", () => forged_words(browser)],
    ["a node that stops and comes back", () => gone(browser)],
  ];
}
