// SPDX-License-Identifier: Apache-2.0
// The page of `assay-worker ui`, from nothing to a bonded worker that is paid, pauses, is killed, and withdraws.
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {existsSync, readFileSync, statSync} from "node:fs";
import {join} from "node:path";
import {axe, given, launch, open, rpc, runChecks, text, until} from "./browser.mjs";

const kPassword = "a password of the owner";
const kSeconds = 60_000; // ms; this only ends what hangs

/** Runs `assay` as the bank. */
function assay(...words) {
  return execFileSync(given.assay, words, {encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: {...process.env, ASSAY_PASSWORD: given.password}});
}

/** The program, and the part of what it prints that `pattern` matches, once that is there. */
async function start_and_read(program, words, pattern) {
  const started = spawn(program, words, {stdio: ["ignore", "pipe", "inherit"]});
  return new Promise((done, fail) => {
    let said = "";
    started.stdout.on("data", (part) => {
      if (said.length < 4096) said += part;
      const found = said.match(pattern);
      if (found) done({started, found: found[0]});
    });
    started.on("exit", () => fail(new Error(`${program} ${words[0]} ended at its start: ${said}`)));
  });
}

class Worker {
  async start() {
    const words = ["ui", "--home", given.home, "--node", given.node, "--no-browser", "--allow-private-addresses"];
    this.process = (await start_and_read(given.worker, words, /assay-worker ui ready/)).started;
    this.ended = new Promise((done) => this.process.on("exit", (code, signal) => done(code ?? signal)));
    this.link = readFileSync(join(given.home, "ui_url"), "utf8").trim();
    this.url = this.link.split("#")[0];
    return this;
  }
  async kill(signal) {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    return this.ended;
  }
  async get(path, headers = {}) {
    return fetch(this.url + path, {headers});
  }
}

const browser = await launch();
const worker = await new Worker().start();
let current = worker;
const seen = await open(browser, {width: 1280, height: 1200});
const {page} = seen;

/** Goes to the page by its link, as the browser is led there. */
async function enter() {
  await page.goto("about:blank");
  await page.goto(current.link);
  await until(page, () => document.querySelector("main").dataset.ready === "true");
}
async function fill(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const selector = `#${form} [name="${name}"]`;
    await page.waitForSelector(selector);
    if (name === "role") await page.select(selector, value);
    else {
      await page.$eval(selector, (element) => { element.value = ""; });
      await page.type(selector, value);
    }
  }
}
const submit = (form) => page.click(`#${form} button[type=submit]`);
const has_text = (selector, words) => until(page, (where, what) => document.querySelector(where)?.textContent.includes(what), selector, words);
/** Lets answers to what the page asks to change take two seconds, or no longer than they do. */
const answer_slowly = (is_slow) => page.evaluate((slow) => {
  globalThis.real_fetch ??= globalThis.fetch;
  globalThis.fetch = async (url, options) => {
    const answer = await globalThis.real_fetch(url, options);
    if (slow && options?.method === "POST") await new Promise((resolve) => setTimeout(resolve, 2000));
    return answer;
  };
}, is_slow);
const no_complaint = async () => assert.equal(await text(page, "#complaint"), "");

async function accessible(name) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations"]}));
  assert.deepEqual(violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target).join(" ")}`), [], name);
}
async function fits(width) {
  await page.setViewport({width, height: 900});
  const {scroll, client} = await page.evaluate(() => ({scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth}));
  assert.ok(scroll <= client, `at ${width} px the page is ${scroll} px wide`);
}
async function balance_of(account) {
  return BigInt((await rpc(given.node, "account_get", {account})).balance);
}

let account = "";
let served = null;
const failed = await runChecks([
  ["the link and the token are files of the owner alone, and the token leaves the address", async () => {
    for (const name of ["ui_url", "ui.html"]) assert.equal(statSync(join(given.home, name)).mode & 0o777, 0o600);
    assert.equal((await current.get("api/state")).status, 401);
    await page.goto(`file://${join(given.home, "ui.html")}`);
    await until(page, () => document.querySelector("main")?.dataset.ready === "true");
    assert.equal(page.url(), current.url);
  }],
  ["another page of the same browser gets nothing", async () => {
    const other = await browser.newPage();
    await other.goto("data:text/html,<title>another</title>");
    const token = current.link.split("=")[1];
    const answers = await other.evaluate(async (url, secret) => {
      const tries = [{}, {method: "POST", body: "{}"}, {headers: {Authorization: `Bearer ${secret}`}}];
      return Promise.all(tries.map((options) => fetch(`${url}api/state`, options).then((r) => r.status, () => "refused")));
    }, current.url, token);
    assert.deepEqual(answers, ["refused", "refused", "refused"]); // no answer has a header of CORS
    await other.close();
  }],
  ["a key is made, its words are asked back, and wrong ones are refused", async () => {
    await enter();
    await accessible("welcome");
    await page.click("#new-key");
    await page.waitForSelector("#phrase");
    const words = await page.$$eval("#phrase li", (items) => items.map((item) => item.textContent));
    assert.equal(words.length, 24);
    await page.evaluate(() => [...document.querySelectorAll("button")].find((each) => each.textContent.startsWith("I have written")).click());
    await page.waitForSelector("#confirm");
    await accessible("asking back");
    const asked = await page.$$eval("#confirm input[name^=word]", (inputs) => inputs.map((input) => Number(input.name.slice(4))));
    const answers = (change) => Object.fromEntries(asked.map((number) => [`word${number}`, words[number - 1] + change]));
    await fill("confirm", {...answers("x"), password: kPassword, again: kPassword});
    await submit("confirm");
    await has_text("#complaint", "is another one");
    await fill("confirm", {...answers(""), password: kPassword, again: kPassword});
    await submit("confirm");
    await page.waitForSelector("#account");
    await no_complaint();
    account = await text(page, "#account");
    assert.match(account, /^assay1/);
  }],
  ["money that arrives is shown, and what is bonded is a stake", async () => {
    assay("account", "send", account, "200 ASY", "--from", "bank");
    await has_text("#balance", "200.000 ASY");
    await fill("bond", {role: "solver", amount: "100", password: "a wrong password"});
    await submit("bond");
    await has_text("#complaint", "password");
    await fill("bond", {role: "solver", amount: "100", password: kPassword});
    await submit("bond");
    await has_text("#orders", "executed in block");
    await no_complaint();
    const stakes = await rpc(given.node, "stake_get", {account});
    assert.equal(stakes.roles.solver.free, "100000000000");
  }],
  ["the machine is measured, limits are saved, and the worker starts", async () => {
    await page.click("#measure");
    await page.waitForSelector("#score", {timeout: kSeconds});
    await fill("settings", {price: "1"});
    await submit("settings");
    await until(page, () => document.querySelector("#settings [name=price]").getAttribute("value") === "1");
    await fill("start", {password: kPassword});
    await submit("start");
    await page.waitForSelector("#pause");
    await has_text("#status", "Ready");
    await accessible("ready");
  }],
  ["for whom it works, in what, and by which relay it is reached are settings, which are refused where no worker could start with them", async () => {
    const settings_of = async () => (await (await current.get("api/state", {Authorization: `Bearer ${current.link.split("=")[1]}`})).json()).settings;
    await page.click("#settings summary");
    for (const [wrong, words] of [[{owner: account}, "own account"], [{owner: "assay1nobody"}, "is an address"], [{labels: "cuda"}, "key=value"],
      [{image: "sha256:1"}, "64 hex digits"], [{relay: "nowhere"}, "HOST:PORT"]]) {
      await fill("settings", wrong);
      await submit("settings");
      await has_text("#complaint", words);
      await fill("settings", Object.fromEntries(Object.keys(wrong).map((name) => [name, ""])));
    }
    const owner = JSON.parse(assay("keys", "show", "bank", "-o", "json")).account;
    const chosen = {owner, image: `sha256:${"a".repeat(64)}`, labels: "os=debian", relay: "127.0.0.1:1"};
    await fill("settings", chosen);
    await answer_slowly(true); // an event draws the new state before the answer is here
    await submit("settings");
    await has_text("main", "which has not named it");
    await no_complaint();
    await answer_slowly(false);
    assert.equal(await page.$("#bond"), null);
    for (const [name, value] of Object.entries(chosen)) assert.equal((await settings_of())[name], value);
    assay("operator", "name", account, "--from", "bank");
    await has_text("main", "which has named it");
    await accessible("an operator's");
    await fits(360);
    await fits(1280);
    assay("operator", "remove", "--from", "bank");
    await fill("settings", Object.fromEntries(Object.keys(chosen).map((name) => [name, ""])));
    await submit("settings");
    await page.waitForSelector("#bond");
    await no_complaint();
    await has_text("#status", "Ready");
  }],
  ["a task that somebody submits is trained, step by step on the page, and paid", async () => {
    const store = join(given.scratch, "store");
    const {started, found} = await start_and_read(given.assay, ["task", "serve", "--store", store, "--listen", "127.0.0.1:0"], /http:\S+(?= until)/);
    served = started;
    assay("task", "submit", given.example, "--store", store, "--location", found, "--from", "bank");
    await has_text("#tasks", "three spirals");
    await page.waitForSelector("#tasks svg.chart", {timeout: kSeconds});
    await has_text("#tasks", "settled");
    await until(page, () => !["0.000 ASY", undefined].includes(document.querySelector("#earned")?.textContent));
    assert.ok(await balance_of(account) > 100_000_000_000n);
    await accessible("paid");
  }],
  ["a pause is kept over a death of the program", async () => {
    await page.click("#pause");
    await has_text("#status", "you have paused it");
    await current.kill("SIGKILL");
    current = await new Worker().start();
    await enter();
    await has_text("#status", "Waiting for your password");
    assert.equal(await text(page, "#account"), account);
    const state = await current.get("api/state", {Authorization: `Bearer ${current.link.split("=")[1]}`});
    assert.equal((await state.json()).settings.is_paused, true);
    assert.equal((await current.get("api/state", {Authorization: `Bearer ${worker.link.split("=")[1]}`})).status, 401);
  }],
  ["what is withdrawn is shown with the time at which it comes back", async () => {
    await page.waitForSelector("#unbond");
    await fill("unbond", {role: "solver", amount: "60", password: kPassword});
    await submit("unbond");
    await has_text("#orders", "unbond 60 ASY as solver: executed");
    await has_text("main", "60.000 ASY at block");
    const {roles} = await rpc(given.node, "stake_get", {account});
    assert.equal(roles.solver.unbonding[0].amount, "60000000000");
  }],
  ["the page fits a narrow screen, in light and dark", async () => {
    await fits(360);
    await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: "dark"}]);
    await accessible("narrow and dark");
    await fits(1280);
  }],
  ["the owner ends the program, and its link is gone", async () => {
    await page.click("#quit");
    assert.equal(await current.ended, 0);
    assert.ok(!existsSync(join(given.home, "ui_url")));
    await has_text("#chainline", "does not answer");
  }],
  ["nothing was asked of others, and nothing was complained about", async () => {
    const foreign = seen.requests.filter((url) => !url.startsWith("http://127.0.0.1:") && !url.startsWith("file:") && url !== "about:blank");
    assert.deepEqual(foreign.filter((url) => !url.startsWith("data:")), []);
    // A refused order is an answer with status 400, of which Chromium writes a line, as of connections that ended.
    const expected = /status of 400|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;
    assert.deepEqual(seen.complaints.filter((line) => !expected.test(line)), []);
  }],
]);
served?.kill();
await current.kill("SIGKILL");
await browser.close();
process.exit(failed === 0 ? 0 : 1);
