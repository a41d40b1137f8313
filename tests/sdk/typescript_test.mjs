// SPDX-License-Identifier: Apache-2.0
// The TypeScript SDK as npm installs it from its tarball: typescript_test.mjs URL none|websocket. run.py serves the recorded
// chain at URL and starts this twice, with and without a global WebSocket.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import test from "node:test";
import * as sdk from "@assay/sdk";

const [url, wanted] = process.argv.slice(2);
if (wanted === "none") {
  delete globalThis.WebSocket;
}
const transports = wanted === "websocket" && typeof globalThis.WebSocket === "function" ? ["websocket", "events"] : ["events"];
if (wanted === "websocket" && transports.length === 1) {
  console.log("this Node.js has no WebSocket: only server-sent events are tested");
}
const client = new sdk.AssayClient(url);
const HOSTILE = ["\0", "__proto__", "'; drop", "\u202e", "../..", "\r\nHost: x", "&after=0#"];

async function collect(iterator, count) {
  const out = [];
  for await (const item of iterator) {
    out.push(item);
    if (out.length === count) {
      break;
    }
  }
  return out;
}

/** Another object that calls `client`, for a test to replace single methods of. */
const derived = (from) => Object.fromEntries(
  ["chain_proof", "chain_wait", "chain_block", "iterate"].map((name) => [name, (...given) => from[name](...given)]));

/** A server that answers posts and streams with what it is given, for as long as `use` runs. */
async function withLiar({ answer = "{}", stream = "", drop = 0 }, use) {
  const state = { posts: 0 };
  const server = http.createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.end(stream);
      return;
    }
    request.resume().on("end", () => ++state.posts <= drop ? response.destroy() : response.end(answer));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(new sdk.AssayClient(`http://127.0.0.1:${server.address().port}`), state);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("methods, pages and batches", async () => {
  assert.ok((await client.node_status()).height > 100);
  const whole = await collect(client.iterate("event_list", { limit: 100 }));
  assert.ok(whole.length > 20);
  assert.deepEqual(await collect(client.iterate("event_list", { limit: 7 })), whole);
  const calls = Array.from({ length: 45 }, (_, i) => ["chain_block", { height: i + 1 }]);
  const blocks = await client.batch([...calls, ["task_get", { task: "00".repeat(32) }]]);
  assert.deepEqual(blocks.slice(0, 45).map((block) => block.height), calls.map(([, params]) => params.height));
  assert.ok(blocks[45] instanceof sdk.NotFound);
});

test("errors have their code, word and hint", async () => {
  await assert.rejects(client.task_get({ task: "00".repeat(32) }), (error) =>
    error instanceof sdk.NotFound && error.code === -32001 && error.slug === "not_found" && error.hint !== "");
  await assert.rejects(client.call("no_such_method"), sdk.MethodNotFound);
  await assert.rejects(new sdk.AssayClient("http://127.0.0.1:1", { retries: 1 }).node_status(), sdk.ConnectionFailed);
  await assert.rejects(client.task_get({ task: "\ud800" }), sdk.RpcError);  // half of a character is no UTF-8
  for (const task of HOSTILE) {
    await assert.rejects(client.task_get({ task }), sdk.InvalidParams);
    for (const transport of transports) {
      await assert.rejects(client.subscribe("task", { task, after: 0, transport }).next(), sdk.InvalidParams);
    }
  }
});

for (const transport of transports) {
  test(`a subscription by ${transport} tells every block and goes on behind any`, async () => {
    const all = await collect(client.subscribe("blocks", { after: 0, transport }), 101);
    assert.deepEqual(all.map((message) => message.data.height), Array.from({ length: 101 }, (_, i) => i + 1));
    assert.deepEqual(await collect(client.subscribe("blocks", { after: all[49].seq, transport }), 51), all.slice(50));
    const waiting = client.subscribe("blocks", { transport });
    setTimeout(() => waiting.close(), 300);
    assert.equal((await waiting.next()).done, true);
  });
}

test("gaps, repetitions and nonsense are noticed", async () => {
  const event = (seq, prev) => `id: ${seq}\nevent: block\ndata: ${JSON.stringify({ topic: "blocks", seq, prev, kind: "block", data: {} })}\n\n`;
  const one = 2 ** 24;
  for (const [stream, error] of [
    [event(one, null) + event(4 * one, 3 * one), sdk.GapError], [event(one, null) + event(one, one), sdk.GapError],
    [event(2 * one, one), sdk.GapError], ["data: {}\n\n", sdk.ProtocolError], ["data: [[\n\n", sdk.ProtocolError],
    ['event: error\ndata: {"code":-32002,"message":"gone","data":{"first_height":9}}\n\n', sdk.Unavailable]]) {
    await withLiar({ stream }, async (liar) => {
      await assert.rejects(collect(liar.subscribe("blocks", { after: 0, patience: 2000, transport: "events" })), error);
    });
  }
  for (const answer of ["", "<html>", "[]", "null", "{}", '{"jsonrpc":"2.0","id":7,"result":{}}', '{"jsonrpc":"2.0","id":1,"error":5}']) {
    await withLiar({ answer }, (liar) => assert.rejects(liar.node_status(), sdk.ProtocolError));
  }
  await withLiar({ answer: '{"jsonrpc":"2.0","id":1,"result":{"tasks":[],"next_cursor":"again"}}' },
    (liar) => assert.rejects(collect(liar.iterate("task_list")), sdk.ProtocolError));
});

test("reads are sent again and submissions are not", async () => {
  const answer = '{"jsonrpc":"2.0","id":1,"result":{"hash":"0"}}';
  await withLiar({ answer, drop: 2 }, async (liar, state) => {
    await liar.node_status();
    assert.equal(state.posts, 3);
  });
  await withLiar({ answer, drop: 2 }, async (liar, state) => {
    await assert.rejects(liar.tx_submit({ tx: "00" }), sdk.ConnectionFailed);
    assert.equal(state.posts, 1);
  });
});

test("money is exact", () => {
  for (const [text, grains] of [["0", 0n], ["1.5", 1_500_000_000n], ["18446744073.709551615", 2n ** 64n - 1n]]) {
    assert.equal(sdk.toGrains(text), grains);
    assert.equal(sdk.formatAsy(grains), `${text} ASY`);
  }
  for (const wrong of ["", "-1", "1e3", "0.0000000001", "18446744073.709551616", 1.5]) {
    assert.throws(() => sdk.toGrains(wrong), RangeError);
  }
});

const hasReferee = existsSync("referee/referee.js") && existsSync("referee/referee.wasm");
test("the referee verifies slots, a history and a dispute, and not what was changed",
  { skip: hasReferee ? false : "referee.wasm was not built" }, async () => {
    const { loadReferee } = await import(`${process.cwd()}/referee/referee.js`);
    const referee = await loadReferee(readFileSync("referee/referee.wasm"));
    const { proposer, chain_id: chainId, height } = await client.node_status();
    const known = { proposer, chainId, height: height - 1 };
    const [task] = await collect(client.iterate("task_list"), 1);
    assert.ok((await sdk.verifySlot(client, referee, { account: task.submitter }, known)).value);
    assert.equal((await sdk.verifySlot(client, referee, { task: "00".repeat(32) }, known)).value, null);
    assert.ok((await sdk.verifyTaskHistory(client, referee, task.id, known)).records.length > 5);
    const disputes = await collect(client.iterate("dispute_list"));
    const verdicts = [];
    for (const { id } of disputes) {
      const shown = await client.dispute_get({ dispute: id });
      if (shown.moves.some((move) => move.action === "prove_move")) {
        verdicts.push((await sdk.verifyDispute(client, referee, id, known)).verdict);
      }
    }
    assert.ok(verdicts.length > 0 && verdicts.every((verdict) => ["refuted", "upheld"].includes(verdict)));
    await assert.rejects(sdk.verifySlot(client, referee, { task: task.id }, { ...known, chainId: "another" }), sdk.NotVerified);
    const liar = derived(client);
    liar.chain_proof = async (params) => {
      const answer = await client.chain_proof(params);
      return { ...answer, value: answer.value.replace(/.$/, (digit) => digit === "0" ? "1" : "0") };
    };
    await assert.rejects(sdk.verifySlot(liar, referee, { task: task.id }, known), sdk.NotVerified);
    const shortened = derived(client);
    shortened.iterate = async function* (method, params) {
      yield* (await collect(client.iterate(method, params))).slice(1);
    };
    await assert.rejects(sdk.verifyTaskHistory(shortened, referee, task.id, known), sdk.NotVerified);
  });
