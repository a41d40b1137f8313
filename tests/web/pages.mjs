// SPDX-License-Identifier: Apache-2.0
// Every page: its content, on narrow screens, by keyboard, for screen readers, and what it asks for.
import assert from "node:assert/strict";
import {axe, given, open, rpc, text, until, visit} from "./browser.mjs";

const kFirstPage = 300 * 1024; // bytes

/** [name, route, texts that the page has] on the chain that has ended. */
function routes({task, convicted, disputed}) {
  const first = disputed.moves[0].tx;
  return [
    ["home", "#/", ["Training that is checked", given.title, "settled", "convicted", "No dispute is open"]],
    ["blocks", "#/blocks", ["The newest"]],
    ["block", `#/block/${disputed.opened_at}`, ["Header", disputed.moves[0].action, "executed"]],
    ["transaction", `#/tx/${first}`, [disputed.moves[0].action, "Decoded body", "segment"]],
    ["tasks", "#/tasks", [given.title, "7 of 7"]],
    ["tasks by state", "#/tasks?state=convicted", ["The solver was convicted"]],
    ["settled task", `#/task/${task.id}`, [given.title, "Submission", "Settlement", "the same root", "Scores", "secrets", "The chain does not have the losses", "19.200 ASY"]],
    ["convicted task", `#/task/${convicted.id}`, ["convicted", "lost_dispute", "50.000 ASY"]],
    ["disputes", "#/disputes", ["refuted"]],
    ["dispute", `#/dispute/${given.dispute}`, [`segment ${disputed.segment}`, "partials of the tile", "lost_dispute", "25.000 ASY", "assay verify segment", "Judge it again here"]],
    ["validators", "#/validators", ["The beacon", "the embedded engine"]],
    ["account", `#/account/${disputed.challenger}`, ["Balance", "Stakes by role", "select_move"]],
    ["economics", "#/economics", ["slash_to_winner_bps", "50 %", "What is at stake"]],
    ["liability", "#/liability", ["Ways to lose", "lost_dispute", "Ends of a task"]],
    ["node", "#/status", ["ready", "Genesis hash", "dispute_get"]],
    ["search by title", `#/search/${encodeURIComponent(given.title.slice(0, 8).toUpperCase())}`, [given.title]],
    ["search by a part of a title", "#/search/onerror", [given.title]],
    ["nothing found", "#/search/%3Cscript%3Ealert(1)%3C%2Fscript%3E", ["<script>alert(1)</script>", "No task is called so."]],
    ["missing", `#/task/${"0".repeat(64)}`, ["There is no such thing here"]],
  ];
}

/** What axe-core finds on the page: of all rules, or of those that are named. */
async function violations(page, rules = null) {
  const only = rules ? {runOnly: {type: "rule", values: rules}} : {};
  const found = await page.evaluate((options) => globalThis.axe.run(document, {resultTypes: ["violations"], ...options}), only);
  return found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.html} ${n.failureSummary}`).join("; ")}`);
}

const scheme = (value) => [{name: "prefers-color-scheme", value}];

/** The page that is shown, by axe-core: all rules in light, and what depends on colours again in dark. */
async function accessible(page, name) {
  await page.evaluate(axe);
  assert.deepEqual(await violations(page), [], `${name} in light`);
  await page.emulateMediaFeatures(scheme("dark"));
  assert.deepEqual(await violations(page, ["color-contrast", "link-in-text-block"]), [], `${name} in dark`);
  await page.emulateMediaFeatures(scheme("light"));
}

/** The page that is shown, on a screen of 360 px. */
async function narrow(page, name) {
  await page.setViewport({width: 360, height: 740});
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${name}: ${wide} px wide in ${window}`);
  await page.setViewport({width: 1280, height: 900});
}

// Loading a page takes far longer than looking at it, so each is loaded once for all of this.
async function content(browser, known) {
  const seen = await open(browser);
  for (const [name, route, texts] of routes(known)) {
    await visit(seen.page, given.ended, route);
    const words = await text(seen.page);
    for (const each of texts) assert.ok(words.includes(each), `${name}: "${each}" is not in: ${words.slice(0, 600)}`);
    assert.equal(await seen.page.$$eval("main img, main script, main iframe, main [onerror]", (all) => all.length), 0, name);
    assert.equal(await seen.page.$$eval(".checked", (all) => all.length), 0, `${name}: nothing is marked as checked before a check`);
    assert.equal(await seen.page.$$eval("h1", (all) => all.length), 1, `${name}: one h1`);
    await narrow(seen.page, name);
    await accessible(seen.page, name);
  }
  assert.ok((await text(seen.page, "header")).includes("assay-demo"), "the line about the chain");
  assert.deepEqual(seen.complaints, [], "console");
  const strangers = seen.requests.filter((url) => !url.startsWith(given.ended) && !url.startsWith("data:"));
  assert.deepEqual(strangers, [], "requests to other origins");
  await seen.page.close();
  return `${routes(known).length} pages, ${seen.requests.length} requests`;
}

async function keyboard(browser) {
  const seen = await open(browser);
  await visit(seen.page, given.ended, "#/");
  const reached = [];
  for (let i = 0; i < 12; ++i) {
    await seen.page.keyboard.press("Tab");
    reached.push(await seen.page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim()));
  }
  assert.equal(reached[0], "skip");
  for (const each of ["query", "Home", "Tasks", "Disputes", "Node"]) assert.ok(reached.includes(each), `${each} is not among ${reached}`);
  await seen.page.focus("#query");
  await seen.page.keyboard.type("42");
  await seen.page.keyboard.press("Enter");
  await until(seen.page, () => document.querySelector("main").dataset.ready === "#/search/42");
  assert.equal(await seen.page.evaluate(() => document.activeElement.id), "main", "the focus follows to the content");
  assert.ok((await text(seen.page)).includes("block 42"));
  await seen.page.close();
}

async function weight(browser) {
  const context = await browser.createBrowserContext();
  const seen = await open(context);
  const began = performance.now();
  await visit(seen.page, given.ended, "#/");
  const took = performance.now() - began;
  assert.ok(seen.bytes > 5000 && seen.bytes < kFirstPage, `${seen.bytes} bytes`);
  await context.close();
  return `${seen.bytes} bytes, drawn after ${Math.round(took)} ms`;
}

async function search(browser, {task, disputed}) {
  const seen = await open(browser);
  const wanted = [[task.id, `#/task/${task.id}`], [given.dispute, `#/dispute/${given.dispute}`], [disputed.challenger, `#/account/${disputed.challenger}`],
    [disputed.moves[0].tx, `#/tx/${disputed.moves[0].tx}`], ["7", "#/block/7"]];
  for (const [query, link] of wanted) {
    await visit(seen.page, given.ended, `#/search/${query}`);
    const links = await seen.page.$$eval("main a", (all) => all.map((a) => a.getAttribute("href")));
    assert.ok(links.includes(link), `${query}: ${links}`);
  }
  await seen.page.close();
}

async function live(browser, {disputed}) {
  const seen = await open(browser);
  await visit(seen.page, given.open, `#/dispute/${given.dispute}`);
  const words = await text(seen.page);
  for (const each of ["active", "If nobody moves.", "dispute_timeout", "it is its move", "Responder", "Challenger", "now at"]) assert.ok(words.includes(each), `"${each}"`);
  const left = (await rpc(given.open, "dispute_get", {dispute: given.dispute})).to_move === "responder" ? 0 : 1;
  const read = () => seen.page.$$eval(".clock .value", (all) => all.map((each) => Number(each.textContent.replace(/,/g, ""))));
  const before = await read();
  await seen.page.focus("main a");
  const focused = await seen.page.evaluate(() => document.activeElement.href);
  await until(seen.page, (was, which) => Number(document.querySelectorAll(".clock .value")[which].textContent.replace(/,/g, "")) < was - 1, before[left], left);
  const after = await read();
  assert.equal(after[1 - left], before[1 - left], "the other clock stands");
  assert.equal(await seen.page.evaluate(() => document.activeElement.href), focused, "the focus stays where it was");
  await narrow(seen.page, "open dispute");
  await accessible(seen.page, "open dispute");
  await visit(seen.page, given.open, "#/", {same: true});
  assert.ok((await text(seen.page)).includes(`segment ${disputed.segment}`), "the open dispute is on the first page");
  assert.deepEqual(seen.complaints, []);
  await seen.page.close();
  return `${before[left]} to ${after[left]} blocks`;
}

export function pages(browser, known) {
  return [
    ["every page has its content, fits a screen of 360 px, lets axe find nothing, and asks nobody else", () => content(browser, known)],
    ["search and pages are reached by keyboard", () => keyboard(browser)],
    ["the first page is light", () => weight(browser)],
    ["ids, accounts and heights are found", () => search(browser, known)],
    ["an open dispute shows its clocks running", () => live(browser, known)],
  ];
}
