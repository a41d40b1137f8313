// SPDX-License-Identifier: Apache-2.0
// Signing in Node.js: signing_test.mjs URL CHAIN_ID SECRET_FILE VECTORS. The node is a live one, and the secret that of its funds.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import test from "node:test";
import * as sdk from "@assay/sdk";

const [url, chainId, secretFile, vectors] = process.argv.slice(2);
const client = new sdk.AssayClient(url);
const signer = await sdk.loadSigner();
const secret = readFileSync(secretFile, "utf8").trim();

test("BIP-340's published vectors", () => {
  const rows = readFileSync(vectors, "utf8").trim().split(/\r?\n/).slice(1).map((line) => line.split(","));
  let signed = 0;
  for (const [index, key, account, aux, message, signature] of rows) {
    if (key !== "") {
      assert.equal(signer.account(key).account, account.toLowerCase(), `row ${index}`);
      assert.equal(signer.sign(key, message, aux), signature.toLowerCase(), `row ${index}`);
      ++signed;
    }
  }
  assert.equal(signed, 8);
});

test("a transfer that Node.js signed is executed", async () => {
  const to = signer.newKey();
  const done = await sdk.send(client, signer, { secret, chainId, action: { transfer: { to: to.address, amount: "2.5" } } });
  assert.equal((await client.account_get({ account: to.address })).balance, "2500000000");
  const tx = await client.tx_get({ hash: done.hash });
  assert.deepEqual([tx.code, tx.height, tx.fee, tx.raw], [0, done.height, done.fee, done.raw]);
  // From the new account, by its own key, and to an account in hex.
  await sdk.send(client, signer, { secret: to.secret, chainId, action: { bond: { role: "verifier", amount: "1" } } });
  await sdk.send(client, signer, { secret: to.secret, chainId, action: { transfer: { to: signer.account(secret).account, amount: "0.5" } } });
});

test("what is encoded already is signed too, and what fails is said to have failed", async () => {
  const transfer = new Uint8Array(41);
  transfer.set(Buffer.from(signer.account(secret).account, "hex"), 1);
  transfer[33] = 7;
  await sdk.send(client, signer, { secret, chainId, action: { encoded: transfer } });
  await assert.rejects(sdk.send(client, signer, { secret, chainId, action: { cancel_task: { task: "00".repeat(32) } } }),
    (error) => error instanceof sdk.TxFailed || error instanceof sdk.TxRejected);
});

test("what would be signed wrongly is not signed", async () => {
  const action = { transfer: { to: "11".repeat(32), amount: "1" } };
  await assert.rejects(sdk.send(client, signer, { secret, chainId: "another", action }), /not of "another"/);
  await assert.rejects(sdk.send(client, signer, { secret, chainId, action, feeMax: "0.000000001" }), /costs more than is allowed: [0-9]+ grains/);
  await assert.rejects(sdk.send(client, signer, { secret: "00".repeat(32), chainId, action }), /the secret is not a key/);
  await assert.rejects(sdk.send(client, signer, { secret, chainId, action: { transfer: { to: "assay1x", amount: "1" } } }), /not an address/);
  await assert.rejects(sdk.send(client, signer, { secret, chainId, action: { transfer: { to: "11", amount: "1" } } }), TypeError);
  await assert.rejects(sdk.send(client, signer, { secret, chainId, action: { submit_task: {} } }), /encoded/);
  await assert.rejects(sdk.send(client, signer, { secret, chainId, action: { transfer: { to: "11".repeat(32), amount: 1 } } }), RangeError);
});

test("bytes are sent again and executed once", async () => {
  const [status, params, { next_nonce: nonce }] = await Promise.all(
    [client.node_status(), client.chain_params(), client.account_get({ account: signer.account(secret).account })]);
  const to = signer.newKey();
  const tx = signer.signTransaction({ secret, chainId, nonce, params: params.raw, baseFee: status.base_fee, action: { transfer: { to: to.address, amount: "1" } } });
  let calls = 0;
  const flaky = new sdk.AssayClient(url, {
    fetch: async (...given) => {
      const answer = await fetch(...given);
      if (/tx_submit/.test(String(given[1]?.body)) && calls++ === 0) {
        throw new TypeError("the connection broke after the node had the transaction");
      }
      return answer;
    },
  });
  const { height } = await sdk.awaitTransaction(flaky, tx, { timeout: 30_000 });
  assert.ok(height > 0 && calls >= 2, `${calls} calls`);
  assert.equal((await client.account_get({ account: to.address })).balance, "1000000000");
});

test("the module's size", () => {
  const { size } = statSync(new URL("./node_modules/@assay/sdk/signer.wasm", import.meta.url));
  console.log(`signer.wasm has ${size} bytes`);
  assert.ok(size < 150_000);
});
