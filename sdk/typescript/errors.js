// SPDX-License-Identifier: Apache-2.0

/** Anything that this package throws by itself. */
export class AssayError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Nobody answered, or the connection broke. */
export class ConnectionFailed extends AssayError {}

/** The answer is not what JSON-RPC and docs/rpc.md allow. */
export class ProtocolError extends AssayError {}

/** A check by the referee found that what the node said is not true of the chain. */
export class NotVerified extends AssayError {}

/** A subscription's message does not follow the one before: something was left out, or told twice. */
export class GapError extends AssayError {
  constructor(last, prev, seq) {
    super(`message ${seq} says that it follows ${prev}, and the last one was ${last}: messages are missing`);
    Object.assign(this, { last, prev, seq });
  }
}

/** The node refused a call: `code` and `slug` as in docs/rpc.md, `hint` says what to do, `data` has all of it. */
export class RpcError extends AssayError {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
    this.slug = String(data.name ?? "");
    this.hint = String(data.hint ?? "");
  }
}
export class InvalidParams extends RpcError {}
export class MethodNotFound extends RpcError {}
export class NotFound extends RpcError {}
export class Unavailable extends RpcError {
  get firstHeight() {
    return Number.isSafeInteger(this.data.first_height) ? this.data.first_height : null;
  }
}
export class TxRejected extends RpcError {
  get txError() {
    return Number.isSafeInteger(this.data.tx_error) ? this.data.tx_error : null;
  }
  get reason() {
    return String(this.data.reason ?? "");
  }
}
export class Unauthorized extends RpcError {}
export class LimitExceeded extends RpcError {}
export class RateLimited extends RpcError {
  get retryAfterMs() {
    return Number.isSafeInteger(this.data.retry_after_ms) ? this.data.retry_after_ms : null;
  }
}

const BY_CODE = new Map([[-32601, MethodNotFound], [-32602, InvalidParams], [-32001, NotFound], [-32002, Unavailable],
  [-32003, TxRejected], [-32004, Unauthorized], [-32005, LimitExceeded], [-32006, RateLimited]]);

/** The error for the `error` member of an answer. Throws ProtocolError where it is not one. */
export function rpcError(error) {
  if (error === null || typeof error !== "object" || !Number.isInteger(error.code) || typeof error.message !== "string") {
    throw new ProtocolError("the answer's error has no code or no message");
  }
  const data = error.data !== null && typeof error.data === "object" && !Array.isArray(error.data) ? error.data : {};
  return new (BY_CODE.get(error.code) ?? RpcError)(error.code, error.message, data);
}
