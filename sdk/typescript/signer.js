// SPDX-License-Identifier: Apache-2.0
/**
 * Keys, signatures and transactions, by signer.wasm: the chain's own encoding and prices, and BIP-340. Nothing here computes on
 * a secret in JavaScript. Load the module from this package or from files of your own, never from a node: whoever serves the
 * module can have it give your keys away.
 */
import { sleep } from "./client.js";
import { AssayError, ConnectionFailed, NotFound, TxRejected } from "./errors.js";
import { toGrains } from "./units.js";

const QUESTION = { account: 1, message: 2, transaction: 3, accountOf: 4 };
const ROLES = { solver: 1, verifier: 2, whistleblower: 3, validator: 4 };
const FEE_MAX = "0.1";

/** The transaction was executed and failed: `hash`, `height`, `code` and `reason`. */
export class TxFailed extends AssayError {
  constructor(hash, height, code, reason) {
    super(`transaction ${hash} failed in block ${height}: ${reason}`);
    Object.assign(this, { hash, height, code, reason });
  }
}

/** The transaction's end is not known, and it may still be executed: await it again by `tx`, and do not sign another. */
export class TxUncertain extends AssayError {
  constructor(tx, why) {
    super(`transaction ${tx.hash}: ${why}; it may still be executed, so follow it before you sign another`);
    this.tx = tx;
  }
}

function hexBytes(value, size, name) {
  const bytes = typeof value === "string" && /^([0-9a-fA-F]{2})*$/.test(value)
    ? Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) : value;
  if (!(bytes instanceof Uint8Array) || (size !== null && bytes.length !== size)) {
    throw new TypeError(`${name} is not ${size === null ? "bytes" : `${size} bytes`}, as a Uint8Array or in hex`);
  }
  return bytes;
}

function number64(value, name) {
  const big = typeof value === "bigint" || Number.isSafeInteger(value) || /^[0-9]{1,20}$/.test(value) ? BigInt(value) : -1n;
  if (big < 0n || big >= 1n << 64n) {
    throw new TypeError(`${name} is not a number from 0 to 2^64 - 1`);
  }
  const out = new DataView(new ArrayBuffer(8));
  out.setBigUint64(0, big, true);
  return new Uint8Array(out.buffer);
}

const byte = (value) => Uint8Array.of(value);

function counted(bytes) {
  const out = new DataView(new ArrayBuffer(4));
  out.setUint32(0, bytes.length, true);
  return [new Uint8Array(out.buffer), bytes];
}

function roleByte(role) {
  if (!Object.hasOwn(ROLES, role)) {
    throw new TypeError(`${role} is not a role: ${Object.keys(ROLES).join(", ")}`);
  }
  return byte(ROLES[role]);
}

/** The action as the module takes it; `account` gives 32 bytes for an address or hex. */
function actionParts(action, account) {
  const [[kind, given], ...others] = Object.entries(action ?? {});
  if (others.length > 0) {
    throw new TypeError("an action is one of transfer, bond, unbond, cancel_task and encoded");
  }
  switch (kind) {
    case "encoded":
      return [byte(0), ...counted(hexBytes(given, null, "encoded"))];
    case "transfer":
      return [byte(1), account(given.to), number64(toGrains(given.amount), "amount")];
    case "bond":
    case "unbond":
      return [byte(kind === "bond" ? 2 : 3), roleByte(given.role), number64(toGrains(given.amount), "amount")];
    case "cancel_task":
      return [byte(4), hexBytes(given.task, 32, "task")];
    default:
      throw new TypeError(`${kind} is not an action that is signed by name: give its Borsh bytes as encoded`);
  }
}

/** Fresh bytes of the platform's generator of random numbers. */
const random = () => globalThis.crypto.getRandomValues(new Uint8Array(32));

export class Signer {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  #ask(question, parts) {
    const { signer_allocate: allocate, signer_call: call, signer_answer_size: answerSize, signer_release: release, memory } = this.#exports;
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    const at = allocate(size);
    if (at === 0) {
      throw new AssayError("the signer has no memory for the question");
    }
    let text;
    try {
      let offset = at;
      for (const part of parts) {
        new Uint8Array(memory.buffer, offset, part.length).set(part);
        offset += part.length;
      }
      const answer = call(question, at, size);
      text = new TextDecoder().decode(new Uint8Array(memory.buffer, answer, answerSize()));
    } finally {
      release(at, size);
    }
    const said = JSON.parse(text);
    if (!said.ok) {
      throw Object.assign(new AssayError(said.fee ? `${said.error}: ${said.fee} grains` : said.error), { fee: said.fee ?? null });
    }
    return said;
  }

  /** The account of a secret (32 bytes or hex), in hex and as an address. */
  account(secret) {
    const { account, address } = this.#ask(QUESTION.account, [hexBytes(secret, 32, "the secret")]);
    return { account, address };
  }

  /** A fresh secret from the platform's generator of random numbers, with its account. */
  newKey() {
    for (;;) {
      const secret = random();
      try {
        return { secret, ...this.account(secret) };
      } catch {
        // 0, or not below the order of the group: a chance of 2^-128
      }
    }
  }

  /** A BIP-340 signature, in hex, of bytes of any length. */
  sign(secret, message, aux = random()) {
    return this.#ask(QUESTION.message, [hexBytes(secret, 32, "the secret"), hexBytes(aux, 32, "aux"),
      ...counted(hexBytes(message, null, "the message"))]).signature;
  }

  /**
   * A signed transaction: { raw, hash, sender, action, fee, gas }, `raw` for tx_submit. Accounts are addresses or hex. With
   * `owner` the action is that account's, which has named the secret's account as its operator.
   */
  signTransaction({ secret, chainId, nonce, params, baseFee, feeMax = FEE_MAX, action, owner = null, aux = random() }) {
    if (typeof chainId !== "string" || chainId === "") {
      throw new TypeError("signTransaction needs the chain's id, from a source other than the node");
    }
    const account = (name) => hexBytes(String(name).startsWith("assay1")
      ? this.#ask(QUESTION.accountOf, counted(new TextEncoder().encode(name))).account : name, 32, "the account");
    const said = this.#ask(QUESTION.transaction, [
      hexBytes(secret, 32, "the secret"), hexBytes(aux, 32, "aux"), ...counted(new TextEncoder().encode(chainId)), number64(nonce, "nonce"),
      ...counted(hexBytes(params, null, "params")), number64(baseFee, "baseFee"), number64(toGrains(feeMax), "feeMax"),
      ...actionParts(action, account), ...(owner === null ? [Uint8Array.of(0)] : [Uint8Array.of(1), account(owner)])]);
    return { raw: said.raw, hash: said.hash, sender: said.sender, action: said.action, fee: String(said.fee), gas: said.gas };
  }
}

/** Loads signer.wasm: from this package, or from `source`, a URL, bytes or a WebAssembly.Module of your own. */
export async function loadSigner(source = new URL("./signer.wasm", import.meta.url)) {
  let module = source;
  if (typeof source === "string" || source instanceof URL) {
    const url = new URL(source, import.meta.url);
    if (url.protocol === "file:") {
      const { readFile } = await import("node:fs/promises");
      module = await readFile(url);
    } else {
      const response = await fetch(url);
      if (!response.ok) {
        throw new AssayError(`${url} answers ${response.status}`);
      }
      module = await response.arrayBuffer();
    }
  }
  module = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
  const { exports } = await WebAssembly.instantiate(module, {});
  exports._initialize();
  return new Signer(exports);
}

/**
 * Submits the same bytes again while nobody answers: whatever the node has seen, they are executed at most once. What was sent
 * before and is refused now may have been executed meanwhile, so that refusal is no answer: whoever awaits it looks again.
 */
async function submit(client, tx, deadline, wasSent = false) {
  for (let attempt = 0; ; ++attempt) {
    try {
      await client.tx_submit({ tx: tx.raw });
      return;
    } catch (error) {
      if (error instanceof TxRejected && (error.reason === "already_known" || wasSent || attempt > 0)) {
        return;
      }
      if (!(error instanceof ConnectionFailed)) {
        throw error;
      }
      if (Date.now() > deadline) {
        throw new TxUncertain(tx, "nobody answered in time");
      }
      await sleep(Math.min(2000, 100 * 2 ** attempt));
    }
  }
}

/** Waits until a transaction is in a block: { hash, height }. Throws TxFailed, or TxUncertain after `timeout` milliseconds. */
export async function awaitTransaction(client, tx, { timeout = 60_000 } = {}) {
  const deadline = Date.now() + timeout;
  for (let missing = 0; Date.now() < deadline;) {
    try {
      const said = await client.tx_get({ hash: tx.hash });
      missing = 0;
      if (said.status === "executed" || said.status === "failed") {
        if (said.code !== 0) {
          throw new TxFailed(tx.hash, said.height, said.code, String(said.error));
        }
        return { hash: tx.hash, height: said.height };
      }
    } catch (error) {
      // Between the mempool and the index there is a moment of nowhere; then it was lost, and the same bytes are sent again.
      if (!(error instanceof NotFound)) {
        throw error;
      }
      if (++missing > 2) {
        await submit(client, tx, deadline, true);
        missing = 0;
      }
    }
    const { height } = await client.node_status();
    await client.chain_wait({ after: height, timeout_ms: Math.max(1, Math.min(5000, deadline - Date.now())) });
  }
  throw new TxUncertain(tx, "it is in no block yet");
}

/**
 * Signs an action with the account's next nonce and the fee that the command line pays, submits it, and waits for its block:
 * { hash, height, fee, raw }. The chain id is yours; nonce, parameters and base fee are the node's word, which can make the
 * transaction fail and can cost at most `feeMax` (ASY).
 */
export async function send(client, signer, { secret, chainId, action, owner = null, feeMax, timeout }) {
  const { account } = signer.account(secret);
  const [status, params, { next_nonce: nonce }] = await Promise.all(
    [client.node_status(), client.chain_params(), client.account_get({ account })]);
  if (status.chain_id !== chainId) {
    throw new AssayError(`the node is of chain ${JSON.stringify(status.chain_id)}, not of ${JSON.stringify(chainId)}`);
  }
  const tx = signer.signTransaction({ secret, chainId, nonce, params: params.raw, baseFee: status.base_fee, feeMax, action, owner });
  await submit(client, tx, Date.now() + (timeout ?? 60_000));
  const { height } = await awaitTransaction(client, tx, { timeout });
  return { hash: tx.hash, height, fee: tx.fee, raw: tx.raw };
}
