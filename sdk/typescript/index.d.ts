// SPDX-License-Identifier: Apache-2.0
import type { Calls, CallOptions, Event, Methods, TxSummary } from "./generated/types.d.ts";
export type * from "./generated/types.d.ts";

export interface ClientOptions {
  /** Milliseconds for one attempt. */
  timeout?: number;
  /** How often a call that reads is sent again when nobody answers; a submission is sent again only if it was not sent. */
  retries?: number;
  /** The node's token, if it has one; subscriptions then go by server-sent events. */
  token?: string;
  fetch?: typeof globalThis.fetch;
}

type Listing = { [M in keyof Methods]: Methods[M] extends { item: unknown } ? M : never }[keyof Methods];
type Item<M extends Listing> = Methods[M] extends { item: infer T } ? T : never;

export type Topic = "blocks" | "events" | "account" | "task" | "dispute";
interface MessageBase { topic: Topic; seq: number; prev: number | null }
export type Message =
  | (MessageBase & { kind: "block"; data: { height: number; hash: string; time_ms: number; [more: string]: unknown } })
  | (MessageBase & { kind: "tx"; data: TxSummary })
  | (MessageBase & { kind: "event"; data: Event });

export interface SubscribeOptions {
  account?: string;
  task?: string;
  dispute?: string;
  /** The sequence number to go on behind; 0: from the first block; absent: from the block after the present one. */
  after?: number;
  /** Milliseconds without a connection until iterating throws. */
  patience?: number;
  signal?: AbortSignal;
  transport?: "websocket" | "events";
}

export class Subscription implements AsyncIterableIterator<Message> {
  private constructor();
  /** The sequence number to resume from; null before it began. */
  readonly last: number | null;
  [Symbol.asyncIterator](): this;
  next(): Promise<IteratorResult<Message>>;
  return(): Promise<IteratorResult<Message>>;
  close(): void;
}

export interface AssayClient extends Calls {}
export class AssayClient {
  constructor(url?: string, options?: ClientOptions);
  readonly url: string;
  call<M extends keyof Methods>(method: M, params?: Methods[M]["params"], options?: CallOptions): Promise<Methods[M]["result"]>;
  /** Results in the order of the calls; an RpcError stands in the place of one that failed. */
  batch(calls: { [M in keyof Methods]: [M, Methods[M]["params"]] }[keyof Methods][], options?: CallOptions): Promise<unknown[]>;
  iterate<M extends Listing>(method: M, params?: Methods[M]["params"], options?: CallOptions): AsyncIterableIterator<Item<M>>;
  subscribe(topic: Topic, options?: SubscribeOptions): Subscription;
}

export class AssayError extends Error {}
export class ConnectionFailed extends AssayError {}
export class ProtocolError extends AssayError {}
export class NotVerified extends AssayError {}
export class GapError extends AssayError {
  readonly last: number | null;
  readonly prev: number | null;
  readonly seq: number;
}
export class RpcError extends AssayError {
  readonly code: number;
  /** The stable word of docs/rpc.md, such as not_found. */
  readonly slug: string;
  readonly hint: string;
  readonly data: Record<string, unknown>;
}
export class InvalidParams extends RpcError {}
export class MethodNotFound extends RpcError {}
export class NotFound extends RpcError {}
export class Unavailable extends RpcError { readonly firstHeight: number | null; }
export class TxRejected extends RpcError { readonly txError: number | null; readonly reason: string; }
export class Unauthorized extends RpcError {}
export class LimitExceeded extends RpcError {}
export class RateLimited extends RpcError {
  readonly retryAfterMs: number | null;
}

export const GRAINS_PER_ASY: bigint;
export function toGrains(asy: string): bigint;
export function formatAsy(grains: string | bigint): string;

/** 32 bytes, or 64 hex digits. */
export type Secret = Uint8Array | string;
export type Role = "solver" | "verifier" | "whistleblower" | "validator";
/** Amounts are in ASY, as toGrains takes them; accounts are addresses or hex; `encoded` is Borsh of any action. */
export type Action =
  | { transfer: { to: string; amount: string } }
  | { bond: { role: Role; amount: string } }
  | { unbond: { role: Role; amount: string } }
  | { cancel_task: { task: string } }
  | { encoded: Uint8Array | string };
export interface SignedTransaction { raw: string; hash: string; sender: string; action: string; fee: string; gas: number }
export class Signer {
  private constructor();
  account(secret: Secret): { account: string; address: string };
  newKey(): { secret: Uint8Array; account: string; address: string };
  sign(secret: Secret, message: Uint8Array | string, aux?: Uint8Array | string): string;
  signTransaction(transaction: {
    secret: Secret; chainId: string; nonce: number | bigint | string; params: string; baseFee: string | bigint; feeMax?: string; action: Action;
    owner?: string | null; aux?: Uint8Array | string;
  }): SignedTransaction;
}
export function loadSigner(source?: string | URL | BufferSource | WebAssembly.Module): Promise<Signer>;
export function send(client: AssayClient, signer: Signer, what: { secret: Secret; chainId: string; action: Action; owner?: string; feeMax?: string; timeout?: number }):
  Promise<{ hash: string; height: number; fee: string; raw: string }>;
export function awaitTransaction(client: AssayClient, tx: { hash: string; raw: string }, options?: { timeout?: number }): Promise<{ hash: string; height: number }>;
export class TxFailed extends AssayError {
  readonly hash: string;
  readonly height: number;
  readonly code: number;
  readonly reason: string;
}
export class TxUncertain extends AssayError { readonly tx: { hash: string; raw: string } }

/** What loadReferee of referee.js gives. */
export interface Referee {
  accountOf(address: string): Promise<any>;
  stateKey(slot: object): Promise<any>;
  verifyStateAnswer(answer: object): Promise<any>;
  verifyBlock(question: object): Promise<any>;
  verifyHistory(question: object): Promise<any>;
  judge(question: object): Promise<any>;
}
export type Slot = { task: string } | { dispute: string } | { account: string } | { checkpoint: { task: string; index: number } };
/** Whose word counts, from a source other than the node. */
export interface Known { proposer: string; chainId: string; /** The height of the state; the last one if absent. */ height?: number; timeout?: number }
export function verifySlot(client: AssayClient, referee: Referee, slot: Slot, known: Known):
  Promise<{ key: string; value: string | null; height: number; block: string }>;
export function verifyTaskHistory(client: AssayClient, referee: Referee, task: string, known: Known):
  Promise<{ records: Event[]; height: number }>;
export function verifyDispute(client: AssayClient, referee: Referee, dispute: string, known: Known): Promise<any>;
