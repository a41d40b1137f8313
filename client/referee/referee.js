// SPDX-License-Identifier: Apache-2.0

/**
 * The referee in the browser: the chain's own rules, compiled to WebAssembly, judge what a node says
 * (docs/operations/referee.md). Needs nothing but referee.wasm, and runs in Node 20 as well.
 *
 * @typedef {Uint8Array | string} Bytes bytes, or hex as the RPC gives it
 * @typedef {{ok: false, error: string}} Failed the question could not be answered
 * @typedef {number | string} Count a number of 64 bits: decimal digits above 2^53 - 1
 *
 * @typedef {object} Values elements in row-major order, with the padding of a tile
 * @property {"f32" | "i32" | "i64" | "bf16" | "i8"} dtype
 * @property {number} rows
 * @property {number} cols
 * @property {[number, number]} shape rows and columns that are inside the tensor
 * @property {Uint32Array} bits one word for each element; of i64 two, the lower first
 * @property {Float32Array | Int32Array | BigInt64Array} numbers the same elements as numbers
 * @property {Uint8Array} bytes as they are hashed; an accumulator may have more than `numbers`
 *
 * @typedef {object} Shown
 * @property {string} hash
 * @property {"tile" | "accumulator" | "commitment" | "impossible" | "unknown"} form
 * @property {Values | null} values
 *
 * @typedef {object} Ruling
 * @property {true} ok
 * @property {"refuted" | "upheld" | "refused"} verdict
 * @property {{code: number, rule: string, text: string} | null} refusal
 * @property {"partial" | "tensor" | "divergence"} proof
 * @property {{segment: number, initialisation: boolean, step: Count, node: number?, op: string?, tile: Count?,
 *             partial: number?, tensor: number?}} place
 * @property {Shown} claimed
 * @property {Shown | null} recomputed
 * @property {{source: "node" | "state", index: number, tile: Count, values: Values}[]} inputs
 * @property {Shown | null} before
 * @property {{state: string, reason: string?, agrees: boolean?}} chain
 * @property {{responder: string, challenger: string, sender: string, prover: string}} parties
 * @property {{disputeId: string, taskId: string, chainId: string, namesDispute: boolean, signed: boolean,
 *             task: boolean?, claim: boolean?}} checks
 * @property {number} us how long the module took, in microseconds
 */

const QUESTION = { judge: 1, stateProof: 2, stateKey: 3, history: 4, block: 5, lightBlock: 6, accountOf: 7 };
const KEY_OF = { task: 1, dispute: 2, account: 3, checkpoint: 4 };
/** More than any record, transaction or history that a chain can have in one answer. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A fresh instance is made once a hostile input has made the memory of one grow so far. */
const MAX_KEPT_MEMORY = 16 * 1024 * 1024;

/** What the caller got wrong, as a sentence. Never leaves this module as an exception. */
class BadInput extends Error {}

function fromHex(text, name) {
  if (text.length % 2 !== 0 || /[^0-9a-fA-F]/.test(text)) {
    throw new BadInput(`"${name}" is not hex`);
  }
  const out = new Uint8Array(text.length / 2);
  for (let i = 0; i < out.length; ++i) {
    out[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  }
  return out;
}

function toBytes(value, name) {
  if (value instanceof Uint8Array) {
    return value;
  }
  if (typeof value === "string") {
    return fromHex(value, name);
  }
  throw new BadInput(`"${name}" is missing, or neither bytes nor hex`);
}

/** Writes a question's arguments in Borsh. */
class Writer {
  #parts = [];
  #size = 0;

  raw(bytes) {
    this.#size += bytes.length;
    if (this.#size > MAX_BYTES) {
      throw new BadInput(`the input has more than ${MAX_BYTES} bytes`);
    }
    this.#parts.push(bytes);
    return this;
  }
  u8(value) {
    return this.raw(Uint8Array.of(value));
  }
  u32(value, name) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
      throw new BadInput(`"${name}" is not a number below 2^32`);
    }
    const out = new DataView(new ArrayBuffer(4));
    out.setUint32(0, value, true);
    return this.raw(new Uint8Array(out.buffer));
  }
  u64(value, name) {
    const isDigits = typeof value === "string" && /^[0-9]{1,20}$/.test(value);
    const isNumber = Number.isSafeInteger(value) && value >= 0;
    if (!isDigits && !isNumber && typeof value !== "bigint") {
      throw new BadInput(`"${name}" is not a number`);
    }
    const big = BigInt(value);
    if (big < 0n || big >= 1n << 64n) {
      throw new BadInput(`"${name}" is not a number below 2^64`);
    }
    const out = new DataView(new ArrayBuffer(8));
    out.setBigUint64(0, big, true);
    return this.raw(new Uint8Array(out.buffer));
  }
  vector(bytes) {
    return this.u32(bytes.length, "length").raw(bytes);
  }
  bytes(value, name) {
    return this.vector(toBytes(value, name));
  }
  hash(value, name) {
    const bytes = toBytes(value, name);
    if (bytes.length !== 32) {
      throw new BadInput(`"${name}" does not have 32 bytes`);
    }
    return this.raw(bytes);
  }
  text(value, name) {
    if (typeof value !== "string") {
      throw new BadInput(`"${name}" is not text`);
    }
    return this.vector(new TextEncoder().encode(value));
  }
  /** `write` is called for a value that is there: neither undefined nor null. */
  option(value, write) {
    if (value === undefined || value === null) {
      return this.u8(0);
    }
    this.u8(1);
    write(value);
    return this;
  }
  finish() {
    const out = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}

const SIZE_OF = { f32: 4, i32: 4, i64: 8, bf16: 2, i8: 1 };

/** The elements of some bytes, little-endian as everywhere in the protocol, on a machine of either kind. */
function decodeElements(dtype, bytes, count) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bits = new Uint32Array(dtype === "i64" ? 2 * count : count);
  for (let i = 0; i < bits.length; ++i) {
    if (dtype === "bf16") {
      bits[i] = view.getUint16(2 * i, true) << 16;
    } else {
      bits[i] = dtype === "i8" ? view.getInt8(i) : view.getUint32(4 * i, true);
    }
  }
  if (dtype === "i64") {
    const numbers = new BigInt64Array(count);
    numbers.forEach((_, i) => (numbers[i] = view.getBigInt64(8 * i, true)));
    return { bits, numbers };
  }
  const isFloat = dtype === "f32" || dtype === "bf16";
  return { bits, numbers: isFloat ? new Float32Array(bits.buffer) : new Int32Array(bits.buffer) };
}

function decodeValues(values) {
  if (!values) {
    return null;
  }
  const { dtype, rows, cols, shapeRows, shapeCols } = values;
  const bytes = fromHex(values.bytes, "values");
  const count = Math.min(rows * cols, Math.floor(bytes.length / SIZE_OF[dtype]));
  return { dtype, rows, cols, shape: [shapeRows, shapeCols], ...decodeElements(dtype, bytes, count), bytes };
}

function decodeShown(shown) {
  return shown ? { ...shown, values: decodeValues(shown.values) } : null;
}

/** A module that answers questions; after a trap it begins anew, since a trap may leave anything in memory. */
class Module {
  #module;
  #exports = null;

  constructor(module) {
    this.#module = module;
  }

  async #instance() {
    if (this.#exports === null) {
      const { exports } = await WebAssembly.instantiate(this.#module, {});
      exports._initialize();
      this.#exports = exports;
    }
    return this.#exports;
  }

  /** The answer as an object, or {ok: false}. */
  async ask(question, bytes) {
    try {
      let exports = null;
      while (exports === null || exports !== this.#exports) {
        exports = await this.#instance();  // another call may have trapped meanwhile
      }
      const at = exports.referee_allocate(bytes.length || 1);
      if (at === 0) {
        throw new WebAssembly.RuntimeError("no memory");
      }
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      const begin = performance.now();
      const answer = exports.referee_call(question, at, bytes.length);
      const us = (performance.now() - begin) * 1000;
      exports.referee_release(at);
      const text = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, answer, exports.referee_answer_size()));
      if (exports.memory.buffer.byteLength > MAX_KEPT_MEMORY) {
        this.#exports = null;
      }
      return { ...JSON.parse(text), us };
    } catch (error) {
      this.#exports = null;
      return { ok: false, error: `the referee stopped: ${error instanceof Error ? error.message : "unknown"}` };
    }
  }
}

async function verifyEd25519({ key, message, signature }) {
  const imported = await crypto.subtle.importKey("raw", fromHex(key, "key"), { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, imported, fromHex(signature, "signature"), fromHex(message, "message"));
}

function rawOf(answer, name) {
  const raw = answer?.raw;
  if (typeof raw !== "string") {
    throw new BadInput(`the answer "${name}" has no "raw"`);
  }
  return raw;
}

function keyArguments(what) {
  for (const kind of ["task", "dispute", "account"]) {
    if (what?.[kind] !== undefined) {
      return new Writer().u8(KEY_OF[kind]).hash(what[kind], kind).u32(0, "index");
    }
  }
  if (what?.checkpoint) {
    const { task, index } = what.checkpoint;
    return new Writer().u8(KEY_OF.checkpoint).hash(task, "task").u32(index, "index");
  }
  throw new BadInput("there is no task, dispute, account or checkpoint to give a key of");
}

/** Answers by the chain's rules. Every method resolves to an object with `ok`, and none rejects. */
export class Referee {
  #module;

  /** @param {WebAssembly.Module} module see loadReferee() */
  constructor(module) {
    this.#module = new Module(module);
  }

  /** Asks with the arguments that `write` returns; what it throws becomes the answer. */
  async #ask(question, write) {
    try {
      return await this.#module.ask(question, write().finish());
    } catch (error) {
      return { ok: false, error: error instanceof BadInput ? error.message : "the input cannot be read" };
    }
  }

  /**
   * Judges the proof that ended a dispute.
   * @param {{dispute: Bytes, transaction: Bytes, task?: Bytes, before?: Bytes, after?: Bytes, claimedTile?: Bytes}} given
   * @returns {Promise<Ruling | Failed>}
   */
  async judge(given) {
    const answer = await this.#ask(QUESTION.judge, () => {
      const out = new Writer().bytes(given?.dispute, "dispute").bytes(given?.transaction, "transaction");
      for (const name of ["task", "before", "after", "claimedTile"]) {
        out.option(given[name], (value) => out.bytes(value, name));
      }
      return out;
    });
    if (!answer.ok) {
      return { ok: false, error: answer.error };
    }
    const inputs = answer.inputs.map((input) => ({ ...input, values: decodeValues(input.values) }));
    const [claimed, recomputed, before] = [answer.claimed, answer.recomputed, answer.before].map(decodeShown);
    return { ...answer, claimed, recomputed, inputs, before };
  }

  /**
   * The same with answers of dispute_get, tx_get (of the last move), task_get and checkpoint_get.
   * @param {{dispute: object, transaction: object, task?: object, before?: object, after?: object}} answers
   * @returns {Promise<Ruling | Failed>}
   */
  async judgeAnswers(answers) {
    try {
      const given = {};
      for (const name of ["dispute", "transaction"]) {
        given[name] = rawOf(answers?.[name], name);
      }
      for (const name of ["task", "before", "after"]) {
        given[name] = answers[name] ? rawOf(answers[name], name) : undefined;
      }
      return await this.judge(given);
    } catch (error) {
      return { ok: false, error: error instanceof BadInput ? error.message : "the answers cannot be read" };
    }
  }

  /**
   * Whether a key has a value (null: has none) in the state with this app hash.
   * @param {{key: Bytes, value: Bytes | null, proof: Bytes, appHash: Bytes}} given
   * @returns {Promise<{ok: true, verified: boolean, present: boolean, problem: string?} | Failed>}
   */
  verifyStateProof(given) {
    return this.#ask(QUESTION.stateProof, () => {
      const out = new Writer().hash(given?.appHash, "appHash").bytes(given.key, "key");
      return out.option(given.value, (value) => out.bytes(value, "value")).bytes(given.proof, "proof");
    });
  }

  /**
   * The same with an answer of chain_proof.
   * @param {object} answer
   * @returns {Promise<{ok: true, verified: boolean, present: boolean, problem: string?} | Failed>}
   */
  verifyStateAnswer(answer) {
    const { key, value, proof, app_hash: appHash } = answer ?? {};
    return this.verifyStateProof({ key, value, proof, appHash });
  }

  /**
   * The key of a record in the state, in hex.
   * @param {{task: Bytes} | {dispute: Bytes} | {account: Bytes} | {checkpoint: {task: Bytes, index: number}}} what
   * @returns {Promise<{ok: true, key: string} | Failed>}
   */
  stateKey(what) {
    return this.#ask(QUESTION.stateKey, () => keyArguments(what));
  }

  /**
   * Whether the records, in order, are the whole history of the task.
   * @param {{task: Bytes | {id: Bytes, count: number, root: Bytes}, records: Bytes[]}} given
   * @returns {Promise<{ok: true, verified: boolean, task: string, count: number, root: string, expectedCount: number,
   *                    expectedRoot: string, problem: string?} | Failed>}
   */
  verifyHistory(given) {
    return this.#ask(QUESTION.history, () => {
      const out = new Writer();
      const isRecord = typeof given?.task === "string" || given?.task instanceof Uint8Array;
      out.option(isRecord ? given.task : null, (record) => out.bytes(record, "task"));
      out.option(isRecord ? null : given.task, ({ id, count, root }) => {
        out.hash(id, "id").u32(count, "count").hash(root, "root");
      });
      if (!Array.isArray(given.records)) {
        throw new BadInput('"records" is not a list');
      }
      out.u32(given.records.length, "records");
      for (const record of given.records) {
        out.bytes(record, "records");
      }
      return out;
    });
  }

  /**
   * Whether a block of the embedded engine is signed and is the one that is described.
   * @param {{block: Bytes, chainId?: string, proposer?: Bytes, height?: Count, appHash?: Bytes}} given
   * @returns {Promise<{ok: true, verified: boolean, height: Count, hash: string, appHash: string, timeMs: Count,
   *                    proposer: string, chainId: string, parent: string, txs: number, problem: string?} | Failed>}
   */
  verifyBlock(given) {
    return this.#ask(QUESTION.block, () => {
      const out = new Writer().bytes(given?.block, "block");
      out.option(given.chainId, (value) => out.text(value, "chainId"));
      out.option(given.proposer, (value) => out.hash(value, "proposer"));
      out.option(given.height, (value) => out.u64(value, "height"));
      return out.option(given.appHash, (value) => out.hash(value, "appHash"));
    });
  }

  /**
   * Whether the validators that a block of CometBFT names signed it, and with `trusted`, whether they are the chain's.
   * @param {{block: Bytes, chainId: string, trusted?: Bytes, now?: number, trustingSeconds?: number}} given `now` is a
   *   Unix time in seconds
   * @returns {Promise<{ok: true, verified: boolean, height: Count, hash: string, appHash: string, validators: number,
   *                    isTrusted: boolean, signatures: number, problem: string?} | Failed>}
   */
  async verifyLightBlock(given) {
    const answer = await this.#ask(QUESTION.lightBlock, () => {
      const out = new Writer().bytes(given?.block, "block").text(given.chainId, "chainId");
      out.option(given.trusted, (value) => out.bytes(value, "trusted"));
      out.u64(given.now ?? Math.floor(Date.now() / 1000), "now");
      return out.option(given.trustingSeconds, (value) => out.u64(value, "trustingSeconds"));
    });
    if (!answer.ok) {
      return answer;
    }
    const signatures = answer.signatures ?? [];
    if (!answer.verified) {
      return { ...answer, signatures: signatures.length };
    }
    try {
      const valid = await Promise.all(signatures.map(verifyEd25519));
      const isSigned = valid.length > 0 && valid.every(Boolean);
      const problem = isSigned ? null : "a validator's signature does not verify";
      return { ...answer, signatures: signatures.length, verified: isSigned, problem };
    } catch {
      return { ok: false, error: "this browser's WebCrypto cannot verify Ed25519 signatures" };
    }
  }

  /**
   * The account of an address, in hex, as the records have it.
   * @param {string} address assay1...
   * @returns {Promise<{ok: true, account: string} | Failed>}
   */
  accountOf(address) {
    return this.#ask(QUESTION.accountOf, () => new Writer().text(address, "address"));
  }
}

/**
 * Loads the referee. Rejects if referee.wasm cannot be had or is no module; nothing else in this file throws.
 * @param {string | URL | BufferSource | WebAssembly.Module} source where referee.wasm is, or what is in it
 * @returns {Promise<Referee>}
 */
export async function loadReferee(source = "/referee.wasm") {
  if (source instanceof WebAssembly.Module) {
    return new Referee(source);
  }
  if (typeof source === "string" || source instanceof URL) {
    const response = await fetch(source);
    if (!response.ok) {
      throw new Error(`${source} answers ${response.status}`);
    }
    return new Referee(await WebAssembly.compile(await response.arrayBuffer()));
  }
  return new Referee(await WebAssembly.compile(source));
}
