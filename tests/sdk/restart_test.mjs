// SPDX-License-Identifier: Apache-2.0
// restart_test.mjs URL: follows a live chain by every transport. run.py restarts the node when this prints "restart"; each
// subscription must then go on by itself, without a gap.
import assert from "node:assert/strict";
import { AssayClient } from "@assay/sdk";

const client = new AssayClient(process.argv[2]);
const transports = typeof globalThis.WebSocket === "function" ? ["websocket", "events"] : ["events"];
let before = 0;

async function follow(transport) {
  const heights = [];
  for await (const { data } of client.subscribe("blocks", { transport })) {
    heights.push(data.height);
    if (heights.length === 5 && ++before === transports.length) {
      console.log("restart");
    }
    if (heights.length === 60) {
      break;
    }
  }
  assert.deepEqual(heights, heights.map((_, i) => heights[0] + i), transport);
}

await Promise.all(transports.map(follow));
console.log(`60 blocks by ${transports.join(" and ")}`);
