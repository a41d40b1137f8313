// SPDX-License-Identifier: Apache-2.0
// Compiled and not run: what TypeScript must accept, and what it must refuse.
import { AssayClient, GapError, formatAsy, loadSigner, send, type Message, type Task, type TaskSummary } from "@assay/sdk";

export async function uses(client: AssayClient): Promise<string> {
  const task: Task = await client.task_get({ task: "00" });
  const height: number = (await client.node_status()).height;
  for await (const each of client.iterate("task_list", { state: "settled" })) {
    const summary: TaskSummary = each;
    console.log(summary.id);
  }
  for await (const message of client.subscribe("task", { task: "00", after: 0 })) {
    const told: Message = message;
    if (told.kind === "event" && told.data.event === "paid") {
      console.log(formatAsy(told.data.amount));
    }
  }
  // @ts-expect-error: a parameter is missing
  await client.task_get({});
  // @ts-expect-error: there is no such method
  await client.task_take({ task: "00" });
  // @ts-expect-error: task_get has no pages
  client.iterate("task_get");
  // @ts-expect-error: there is no such state
  client.iterate("task_list", { state: "done" });
  // @ts-expect-error: an amount is a string of grains
  const wrong: number = (await client.supply_get()).supply;
  const signer = await loadSigner();
  const { secret, address } = signer.newKey();
  const sent = await send(client, signer, { secret, chainId: "assay-local", action: { bond: { role: "solver", amount: "1.5" } } });
  const later: number = sent.height;
  // @ts-expect-error: an amount is text, in ASY
  await send(client, signer, { secret, chainId: "assay-local", action: { transfer: { to: address, amount: 1 } } });
  // @ts-expect-error: the chain's id is the caller's to say
  await send(client, signer, { secret, action: { transfer: { to: address, amount: "1" } } });
  // @ts-expect-error: there is no such role
  await send(client, signer, { secret, chainId: "a", action: { bond: { role: "miner", amount: "1" } } });
  console.log(later);
  return `${task.raw} ${height} ${wrong} ${GapError.name}`;
}
