// SPDX-License-Identifier: Apache-2.0
// A Chromium page that keeps account of what it asked for and complained about.
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";
import {join} from "node:path";

export const given = JSON.parse(process.env.ASSAY_WEB);
const require = createRequire(join(given.modules, "any.js"));
const puppeteer = require("puppeteer-core");
export const axe = readFileSync(join(given.modules, "axe-core", "axe.min.js"), "utf8");

const kReady = 90_000; // ms; this only ends what hangs
const kPolling = 100;

export async function launch() {
  return puppeteer.launch({
    executablePath: given.browser, headless: true, userDataDir: join(given.scratch, "profile"),
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb"],
  });
}

/** Answers of the node that a test changes: (method, result) -> result. */
async function intercept(page, change) {
  await page.setRequestInterception(true);
  page.on("request", async (request) => {
    if (request.method() !== "POST") return request.continue();
    try {
      const body = request.postData();
      const response = await fetch(request.url(), {method: "POST", headers: {"Content-Type": "application/json"}, body});
      const answer = await response.json();
      const asked = [JSON.parse(body)].flat();
      for (const each of [answer].flat()) {
        if (each.result) each.result = change(asked.find((call) => call.id === each.id).method, each.result);
      }
      await request.respond({status: response.status, contentType: "application/json", body: JSON.stringify(answer)});
    } catch {
      await request.abort().catch(() => {});
    }
  });
}

/** A new page: {page, complaints, requests, bytes}. `lie` changes answers of the node. */
export async function open(browser, {width = 1280, height = 900, scheme = "light", lie = null} = {}) {
  const page = await browser.newPage();
  const seen = {page, complaints: [], requests: [], bytes: 0};
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) seen.complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => seen.complaints.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => {
    seen.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => seen.requests.push(request.url()));
  const session = await page.createCDPSession();
  await session.send("Network.enable");
  session.on("Network.loadingFinished", (event) => { seen.bytes += event.encodedDataLength; });
  page.setDefaultTimeout(kReady);
  await page.setViewport({width, height});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}]);
  if (lie) await intercept(page, lie);
  return seen;
}

/** Goes to a route of the explorer and waits until the page is drawn. Another document each time, unless `same`. */
export async function visit(page, base, hash, {same = false} = {}) {
  if (same) await page.evaluate((to) => { location.hash = to; }, hash);
  else await page.goto(`${base}/?${Math.random().toString(36).slice(2)}${hash}`);
  await page.waitForFunction((to) => document.querySelector("main").dataset.ready === to, {timeout: kReady, polling: kPolling}, hash);
}

export async function text(page, selector = "main") {
  return page.$eval(selector, (element) => element.textContent);
}

/** Waits until `predicate`, a function of the page, is true. */
export async function until(page, predicate, ...args) {
  await page.waitForFunction(predicate, {timeout: kReady, polling: kPolling}, ...args);
}

/** Calls a method of a node. */
export async function rpc(base, method, params = {}) {
  const response = await fetch(base, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params})});
  const answer = await response.json();
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/** Runs checks, each a name and a function that throws where something is wrong, and prints what came of each. Returns how many failed. */
export async function runChecks(checks) {
  let failed = 0;
  for (const [name, run] of checks) {
    const began = performance.now();
    try {
      const words = await run();
      console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)${words ? `: ${words}` : ""}`);
    } catch (error) {
      ++failed;
      console.log(`FAIL  ${name}: ${error.stack ?? error}`);
    }
  }
  return failed;
}
