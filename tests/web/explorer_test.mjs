// SPDX-License-Identifier: Apache-2.0
// What the explorer shows and does not do, in Chromium, on chains that tests/web/run made.
import assert from "node:assert/strict";
import {given, launch, rpc, runChecks} from "./browser.mjs";
import {headers} from "./headers.mjs";
import {pages} from "./pages.mjs";
import {trust} from "./trust.mjs";

async function facts() {
  const {tasks} = await rpc(given.ended, "task_list");
  const disputed = await rpc(given.ended, "dispute_get", {dispute: given.dispute});
  const open = await rpc(given.open, "dispute_get", {dispute: given.dispute});
  assert.equal(open.state, "active", "the second chain ends in the middle of the dispute");
  return {task: tasks.find((t) => t.state === "settled"), convicted: tasks.find((t) => t.state === "convicted"), disputed, open};
}

let failed = 0;
const browser = await launch();
try {
  const known = await facts();
  failed = await runChecks([...headers(known), ...pages(browser, known), ...trust(browser, known)]);
} finally {
  await browser.close();
}
console.log(failed === 0 ? "the explorer is as it should be" : `${failed} checks failed`);
process.exit(failed === 0 ? 0 : 1);
