// SPDX-License-Identifier: Apache-2.0
// What the explorer shows of a chain of several validators under CometBFT, one of which is jailed (tests/web/run_cometbft).
import assert from "node:assert/strict";
import {axe, given, launch, open, rpc, runChecks, text, until, visit} from "./browser.mjs";

/** [route, texts that the page has]. */
function routes(block) {
  return [
    ["#/", ["Training that is checked"]],
    ["#/blocks", ["The newest"]],
    [`#/block/${block.height}`, ["Header", block.hash, "by the validators", "executed"]],
    ["#/validators", ["in the set", "jailed until", "(33.3 %)", "10,000.000 ASY", "10,000 of 30,000", "jail_blocks = 2345", "of the power pass a proposal"]],
    [`#/account/${given.down}`, ["Penalties as a validator", "it missed too many blocks in a row"]],
    ["#/economics", ["What is at stake"]],
    ["#/status", ["ready", "cometbft", "Genesis hash", "all blocks"]],
    [`#/search/${block.height}`, [`block ${block.height}`]],
    [`#/search/${given.consensus_address.slice(0, 12)}`, ["validator"]],
    [`#/search/${given.down}`, ["account"]],
  ];
}

async function pages(seen, block) {
  for (const [route, texts] of routes(block)) {
    await visit(seen.page, given.ended, route);
    const words = await text(seen.page);
    for (const each of texts) assert.ok(words.includes(each), `${route}: "${each}" is not in: ${words.slice(0, 1500)}`);
    await seen.page.evaluate(axe);
    const {violations} = await seen.page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations"]}));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html}`), [], route);
  }
  return `${routes(block).length} pages`;
}

/** Every block names one of the validators that are up as its proposer, and the page follows the chain. */
async function follows(seen) {
  await visit(seen.page, given.ended, "#/blocks");
  const read = () => seen.page.$eval("#chainline a", (a) => Number(a.textContent.replace(/,/g, "")));
  const before = await read();
  await until(seen.page, (was) => Number(document.querySelector("#chainline a").textContent.replace(/,/g, "")) > was + 1, before);
  const {validators} = await rpc(given.ended, "validator_list");
  const linked = await seen.page.$$eval("main a[href^='#/account/']", (all) => all.map((a) => a.getAttribute("href").slice("#/account/".length)));
  assert.ok(linked.length > 0, "blocks have proposers");
  for (const each of linked) assert.ok(validators.some((v) => v.account === each), `${each} is no validator`);
  assert.ok(new Set(linked).size >= 3, "three validators take turns");
  return `${before} to ${await read()} blocks`;
}

const browser = await launch();
let failed = 0;
try {
  const block = await rpc(given.ended, "chain_block", {height: given.paid.height});
  const seen = await open(browser);
  failed = await runChecks([
    ["every page has its content", () => pages(seen, block)],
    ["the list of blocks follows the chain", () => follows(seen)],
    ["no complaints, and no request to others", () => {
      assert.deepEqual(seen.complaints, []);
      assert.deepEqual(seen.requests.filter((url) => !url.startsWith(given.ended) && !url.startsWith("data:")), []);
    }],
  ]);
} finally {
  await browser.close();
}
process.exit(failed === 0 ? 0 : 1);
