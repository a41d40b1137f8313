// SPDX-License-Identifier: Apache-2.0
// Follows a chain for five blocks: `node follow.mjs http://127.0.0.1:26600`.
import { AssayClient, formatAsy } from "@assay/sdk";

const client = new AssayClient(process.argv[2]);
console.log("chain", (await client.node_status()).chain_id, "with", formatAsy((await client.supply_get()).supply));
for await (const task of client.iterate("task_list")) {
  console.log("task", task.id, task.state);
}
let count = 0;
for await (const { seq, data } of client.subscribe("blocks")) {
  console.log("block", data.height, "sequence number", seq);
  if (++count === 5) {
    break;
  }
}
