// SPDX-License-Identifier: Apache-2.0
// Tells when the chain has a new block. This is the only place that knows how: a stream of server-sent events, which the
// browser opens again by itself where it breaks.
import {call, has_token} from "./rpc.js";

const kLeast = 700;  // ms between two reports: a chain may have ten blocks in a second
const kRetry = 2000; // ms before a stream that was refused is asked for again

/**
 * Calls `report({height, is_live})` at first, with each new block, at most every kLeast ms, and when the node stops
 * answering. Nothing is asked while the page is hidden. Returns a function that ends it.
 */
export function follow(report) {
  let source = null;
  let timer = null;
  let height = 0;
  let reported_at = 0;

  function tell() {
    timer = null;
    reported_at = performance.now();
    report({height, is_live: true});
  }
  function note(at) {
    height = at; // smaller than before where another chain answers at this address now
    timer ??= setTimeout(tell, Math.max(0, reported_at + kLeast - performance.now()));
  }
  function close() {
    source?.close();
    source = null;
    clearTimeout(timer);
    timer = null;
  }
  /** Waits for one block after the other, where a stream cannot send the token. */
  async function poll() {
    const opened = {close() {}};
    source = opened;
    while (source === opened) {
      try {
        const {height: at} = await call("chain_wait", {after: height, timeout_ms: 10_000});
        if (source === opened) note(at);
      } catch {
        if (source === opened) report({height, is_live: false});
        await new Promise((done) => setTimeout(done, kRetry));
      }
    }
  }
  async function open() {
    if (has_token()) return poll();
    const opened = new EventSource("/events?topic=blocks");
    source = opened;
    opened.addEventListener("block", (event) => note(JSON.parse(event.data).data.height));
    opened.addEventListener("error", () => {
      if (source !== opened) return;
      report({height, is_live: false});
      if (opened.readyState === EventSource.CLOSED) {
        close();
        timer = setTimeout(() => { timer = null; open(); }, kRetry);
      }
    });
    // The stream begins with the next block: what there is already is asked for.
    opened.addEventListener("open", async () => {
      try {
        note((await call("node_status")).height);
      } catch {
        if (source === opened) report({height, is_live: false});
      }
    });
  }
  function look() {
    if (document.hidden) close();
    else if (source === null) open();
  }

  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    close();
  };
}
