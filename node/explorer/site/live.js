// SPDX-License-Identifier: Apache-2.0
// Tells when the chain has a new block. This is the only place that knows how: chain_wait, a long poll.
import {call} from "./rpc.js";

const kPause = 2000; // ms after a call that failed
const kLeast = 700;  // ms between two reports: a chain may have ten blocks in a second

/**
 * Calls `report({height, is_live})` with each new block, at most every kLeast ms, and once when the node stops answering.
 * Nothing is asked while the page is hidden. Returns a function that ends it.
 */
export function follow(report) {
  const control = new AbortController();
  run(report, control.signal);
  return () => control.abort();
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function visible() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, {once: true}));
}

async function run(report, signal) {
  let height = 0;
  while (!signal.aborted) {
    await visible();
    try {
      const answer = await call("chain_wait", {after: height, timeout_ms: 25000}, signal);
      if (answer.height < height) height = 0; // another chain answers at this address now
      if (answer.height !== height || height === 0) {
        height = answer.height;
        report({height, is_live: true});
      }
      await sleep(kLeast);
    } catch (error) {
      if (signal.aborted) return;
      report({height, is_live: false});
      await sleep(kPause);
    }
  }
}
