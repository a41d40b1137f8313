// SPDX-License-Identifier: Apache-2.0

// referee_test.mjs ROOT MODULE NATIVE: compares the referee's module with the same code on this machine, program NATIVE
// (tests/cross/referee_main.cpp), and with what a real node answered about real disputes. check_referee.py starts it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, webcrypto } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

globalThis.crypto ??= webcrypto;  // Node 18 has it, but not there
const [root, modulePath, native] = process.argv.slice(2);
// As a page would have it: Node 18 takes a file named .js for a module only where a package.json says so.
const source = readFileSync(join(root, "client/referee/referee.js"), "utf8");
const { loadReferee } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
const MAX_MODULE_BYTES = 150_000;
const DAMAGES_PER_CASE = 24;
const MIN_DAMAGED_PROOFS = 500;
const MIN_DISPUTES = 40;
const JUDGE = 1;
const LIGHT_BLOCK = 6;

const fromHex = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The module without referee.js, to see its answers as they are. */
class Bare {
  constructor(module) {
    this.module = module;
    this.restart();
  }
  restart() {
    this.exports = new WebAssembly.Instance(this.module, {}).exports;
    this.exports._initialize();
  }
  call(question, bytes) {
    const { referee_allocate, referee_release, referee_call, referee_answer_size, memory } = this.exports;
    const at = referee_allocate(Math.max(1, bytes.length));
    assert.notEqual(at, 0);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const begin = performance.now();
    const answer = referee_call(question, at, bytes.length);
    this.us = (performance.now() - begin) * 1000;
    referee_release(at);
    return Buffer.from(new Uint8Array(memory.buffer, answer, referee_answer_size())).toString();
  }
}

/** What the module adds: the signatures that WebCrypto has to check. The native code has checked them itself. */
function withoutSignatures(text) {
  const { signatures, ...answer } = JSON.parse(text);
  return { answer, signatures: signatures ?? [] };
}

function readCases() {
  const run = spawnSync(native, [root, String(DAMAGES_PER_CASE)], { maxBuffer: 1 << 30, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  const cases = [];
  const damages = [];
  for (const line of run.stdout.trimEnd().split("\n")) {
    const [kind, ...fields] = line.split("\t");
    if (kind === "case") {
      const [name, question, bytes, answer] = fields;
      cases.push({ name, question: Number(question), bytes: fromHex(bytes), answer });
    } else {
      const [index, cut, bytes, expected] = fields;
      const replaced = bytes.split(",").slice(0, -1).map((pair) => pair.split(":").map(Number));
      damages.push({ index: Number(index), cut: Number(cut), replaced, expected });
    }
  }
  return { cases, damages };
}

function checkModule(bytes, module) {
  assert.deepEqual(WebAssembly.Module.imports(module), [], "the module imports something");
  assert.ok(bytes.length <= MAX_MODULE_BYTES, `the module has ${bytes.length} bytes`);
  console.log(`referee.wasm: ${bytes.length} bytes, no imports`);
}

/** Of a lie about one bit the module shows both tiles, which differ in one element: the flipped one. */
function countDifferences({ claimed, recomputed }) {
  if (claimed.form !== "tile" || !claimed.values || !recomputed) {
    return null;
  }
  const [a, b] = [claimed.values.bytes, recomputed.values.bytes].map(fromHex);
  return a.reduce((sum, byte, i) => sum + (byte === b[i] ? 0 : 1), 0);
}

/** Every question that nothing is wrong with. */
function checkCases(bare, cases) {
  const verdicts = {};
  const times = [];
  let shown = 0;
  for (const { name, question, bytes, answer } of cases) {
    const given = bare.call(question, bytes);
    if (question === LIGHT_BLOCK) {
      assert.deepEqual(withoutSignatures(given).answer, JSON.parse(answer), name);
      continue;
    }
    assert.equal(given, answer, name);
    if (question === JUDGE) {
      const ruling = JSON.parse(given);
      const { verdict, chain, checks } = ruling;
      const differences = countDifferences(ruling);
      if (differences !== null) {
        assert.equal(differences, verdict === "refuted" ? 1 : 0, name);
        shown += 1;
      }
      assert.ok(name === "divergence" ? verdict === "refuted" : name.endsWith(verdict), `${name}: ${verdict}`);
      assert.ok(chain.agrees && checks.signed && checks.namesDispute, name);
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
      times.push(bare.us);
    }
  }
  assert.ok(shown >= MIN_DISPUTES, `only ${shown} rulings show what was claimed`);
  assert.ok(times.length >= MIN_DISPUTES, `only ${times.length} disputes`);
  times.sort((a, b) => a - b);
  console.log(`${cases.length} questions answered as by the native code; rulings:`, verdicts);
  const [median, slowest] = [times[times.length >> 1], times.at(-1)].map((us) => us.toFixed(0));
  console.log(`a ruling with its signature and values: median ${median} us, slowest ${slowest} us`);
}

/** A light block is judged by the module together with WebCrypto. */
async function answerLightBlock(bare, damaged) {
  const { answer, signatures } = withoutSignatures(bare.call(LIGHT_BLOCK, damaged));
  for (const { key, message, signature } of answer.verified ? signatures : []) {
    const imported = await crypto.subtle.importKey("raw", fromHex(key), { name: "Ed25519" }, false, ["verify"]);
    answer.verified &&= await crypto.subtle.verify({ name: "Ed25519" }, imported, fromHex(signature), fromHex(message));
  }
  return answer;
}

/** Damaged arguments: the same answer, to the byte. */
async function checkDamages(bare, cases, damages) {
  const outcomes = {};
  let proofs = 0;
  for (const { index, cut, replaced, expected } of damages) {
    const { name, question, bytes } = cases[index];
    const damaged = bytes.slice();
    for (const [at, byte] of replaced) {
      damaged[at] = byte;
    }
    const what = `${name}, ${JSON.stringify(replaced)}, cut at ${cut}`;
    if (question === LIGHT_BLOCK) {
      const { ok, verified } = await answerLightBlock(bare, damaged.subarray(0, cut));
      const native = JSON.parse(expected);
      assert.deepEqual({ ok, verified }, { ok: native.ok, verified: native.verified }, `${what}: ${expected}`);
    } else {
      assert.equal(sha256(bare.call(question, damaged.subarray(0, cut))), expected, what);
    }
    const { ok, verdict, refusal, verified } = JSON.parse(bare.call(question, damaged.subarray(0, cut)));
    const outcome = ok ? (verdict ?? (verified ? "verified" : "not verified")) : "does not decode";
    const counted = question === LIGHT_BLOCK ? "light block" : (refusal?.rule ?? outcome);
    outcomes[counted] = (outcomes[counted] ?? 0) + 1;
    proofs += question === JUDGE ? 1 : 0;
  }
  assert.ok(proofs >= MIN_DAMAGED_PROOFS, `only ${proofs} damaged proofs`);
  console.log(`${proofs} damaged proofs and ${damages.length - proofs} other damages answered as by the native code:`, outcomes);
}

/** The arguments of a case about a light block, as referee.js takes them. */
function lightArguments(bytes) {
  const view = new DataView(bytes.buffer);
  const blockSize = view.getUint32(0, true);
  const textAt = 8 + blockSize;
  const textSize = view.getUint32(4 + blockSize, true);
  const text = bytes.subarray(textAt, textAt + textSize);
  return { block: bytes.slice(4, 4 + blockSize), chainId: new TextDecoder().decode(text) };
}

/** The module hands out the signatures of light blocks, and one that is wrong must be noticed. */
async function checkLightBlocks(referee, bare, cases) {
  const given = cases.filter(({ name }) => name === "light block");
  assert.equal(given.length, 5);
  for (const { bytes, question } of given) {
    const { block, chainId } = lightArguments(bytes);
    const answer = await referee.verifyLightBlock({ block, chainId });
    assert.ok(answer.ok && answer.verified && answer.signatures >= 3, JSON.stringify(answer));
    const { signatures } = withoutSignatures(bare.call(question, bytes));
    const at = Buffer.from(block).indexOf(Buffer.from(signatures[0].signature, "hex"));
    assert.ok(at > 0);
    const damaged = block.slice();
    damaged[at] ^= 1;
    const wrong = await referee.verifyLightBlock({ block: damaged, chainId });
    assert.ok(wrong.ok && !wrong.verified && wrong.problem.includes("signature"), JSON.stringify(wrong));
    assert.equal((await referee.verifyLightBlock({ block, chainId: "another" })).verified, false);
  }
  const [trusted, next] = given.map(({ bytes }) => lightArguments(bytes));
  const early = await referee.verifyLightBlock({ ...next, trusted: trusted.block, now: 1 });
  assert.ok(early.ok && early.isTrusted && !early.verified, JSON.stringify(early));
  const forever = 10_000_000_000;
  const later = await referee.verifyLightBlock({ ...next, trusted: trusted.block, trustingSeconds: forever });
  assert.ok(later.ok && later.isTrusted && later.verified, JSON.stringify(later));
  const back = await referee.verifyLightBlock({ ...trusted, trusted: next.block, trustingSeconds: forever });
  assert.ok(back.ok && !back.verified, JSON.stringify(back));
  console.log(`${given.length} light blocks of a chain of four validators verify, and not with a wrong signature`);
}

/** What a node answered about disputes that it ruled on. */
async function checkRecorded(referee, { disputes, histories }, name) {
  for (const each of disputes) {
    const { dispute, transaction, task, before, after, proof, block } = each;
    const answer = await referee.judgeAnswers({ dispute, transaction, task, before, after });
    assert.ok(answer.ok, answer.error);
    const agreed = { refuted: dispute.state === "refuted", upheld: dispute.state === "upheld" }[answer.verdict];
    assert.ok(agreed && answer.chain.agrees, `${name} ${dispute.id}: ${answer.verdict}, the chain says ${dispute.state}`);
    for (const member of ["node", "op", "tile", "partial", "tensor", "step"]) {
      assert.equal(answer.place[member] ?? null, dispute.pinpoint[member] ?? null, member);
    }
    const { namesDispute, signed, task: isTask, claim, disputeId } = answer.checks;
    assert.ok(namesDispute && signed && isTask && claim !== false && disputeId === dispute.id, JSON.stringify(answer.checks));
    await checkChainOfTrust(referee, each);
    const other = await referee.judgeAnswers({ dispute, transaction, task: { raw: task.raw.replace(task.id, "00".repeat(32)) } });
    assert.equal(other.checks.task, false);
    console.log(`${name}: dispute ${dispute.id.slice(0, 8)} ${answer.verdict} at node ${answer.place.node} ` +
      `(${answer.place.op}) of step ${answer.place.step}, claim checked: ${claim}, ${answer.us.toFixed(0)} us`);
    if (answer.recomputed?.values) {
      const { numbers, rows, cols } = answer.recomputed.values;
      assert.equal(numbers.length, rows * cols);
      assert.equal(answer.claimed.values === null, answer.verdict === "refuted");
    }
    assert.ok(proof && block);
  }
  for (const { task, records } of histories) {
    const good = await referee.verifyHistory({ task: task.raw, records });
    assert.ok(good.ok && good.verified && good.count === task.history_count && good.root === task.history_root, JSON.stringify(good));
    assert.equal((await referee.verifyHistory({ task: task.raw, records: records.slice(1) })).verified, false);
    assert.equal((await referee.verifyHistory({ task: task.raw, records: records.slice(0, -1) })).verified, false);
    const altered = [...records];
    altered[3] = records[3].slice(0, -2) + (records[3].endsWith("00") ? "01" : "00");
    assert.equal((await referee.verifyHistory({ task: task.raw, records: altered })).verified, false);
  }
}

/** From the record to an app hash, and from the app hash to a signed block. */
async function checkChainOfTrust(referee, { dispute, proof, block }) {
  const { key } = await referee.stateKey({ dispute: dispute.id });
  assert.equal(key, proof.key);
  assert.equal(proof.value, dispute.raw);
  assert.deepEqual((await referee.verifyStateAnswer(proof)).verified, true);
  assert.equal((await referee.verifyStateAnswer({ ...proof, value: null })).verified, false);
  assert.equal((await referee.verifyStateAnswer({ ...proof, app_hash: "11".repeat(32) })).verified, false);
  const proposer = (await referee.accountOf(block.proposer)).account;
  const described = { block: block.raw, proposer, height: block.height, appHash: proof.app_hash };
  const answer = await referee.verifyBlock(described);
  assert.ok(answer.ok && answer.verified && answer.hash === block.hash, JSON.stringify(answer));
  for (const wrong of [{ height: block.height + 1 }, { appHash: "22".repeat(32) }, { proposer: "33".repeat(32) }, { chainId: "other" }]) {
    assert.equal((await referee.verifyBlock({ ...described, ...wrong })).verified, false);
  }
}

/** Whatever it is given, referee.js answers. */
async function checkHostileInput(referee) {
  const things = [undefined, null, 0, "", "zz", "00", {}, [], new Uint8Array(3), new Uint8Array(1 << 20), "ff".repeat(5000), 1n, Symbol.iterator];
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(referee)).filter((name) => name !== "constructor");
  let count = 0;
  for (const method of methods) {
    for (const thing of things) {
      const shaped = { dispute: thing, transaction: thing, task: thing, key: thing, value: thing, proof: thing, appHash: thing,
        records: [thing], block: thing, chainId: thing, checkpoint: thing };
      for (const given of [thing, shaped]) {
        const answer = await referee[method](given);
        assert.equal(typeof answer.ok, "boolean", method);
        assert.ok(answer.ok || typeof answer.error === "string", method);
        count += 1;
      }
    }
  }
  console.log(`${count} hostile inputs to ${methods.length} methods were answered`);
}

const bytes = readFileSync(modulePath);
const module = await WebAssembly.compile(bytes);
checkModule(bytes, module);
const referee = await loadReferee(module);
const { cases, damages } = readCases();
const bare = new Bare(module);
checkCases(bare, cases);
await checkDamages(bare, cases, damages);
await checkLightBlocks(referee, bare, cases);
const folder = join(root, "tests/vectors/referee");
for (const name of readdirSync(folder).filter((file) => file.startsWith("demo-"))) {
  await checkRecorded(referee, JSON.parse(readFileSync(join(folder, name), "utf8")), name);
}
await checkHostileInput(referee);
