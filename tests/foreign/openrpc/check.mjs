// SPDX-License-Identifier: Apache-2.0
// Holds a node's answers against the description that it gives of itself, by tools that others wrote.
//
//     check.mjs URL MODULES EXAMPLES_PAGE [--write]
//
// Calls every method with what the node's own listings lead to: every block, transaction, task, checkpoint, dispute and
// account, and every page of every listing. Ajv validates each result; each error must be one that the method's
// description has. open-rpc-test-coverage then repeats one call of each method as the document's example. The page of
// examples must be what this chain gives, unless it is called "-"; --write writes it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';

const [url, modules, page, flag] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'package.json'));
const Ajv = require('ajv').default ?? require('ajv');
const { validateOpenRPCDocument, dereferenceDocument } = require('@open-rpc/schema-utils-js');

const faults = [];
let calls = 0;
const examples = new Map(); // method -> {params, result}: the first call that gave anything

async function post(body) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
}

async function raw(method, params = {}) {
  calls += 1;
  return post({ jsonrpc: '2.0', id: calls, method, params });
}

const discovered = await raw('rpc.discover');
const document = discovered.result;
const verdict = validateOpenRPCDocument(document);
if (verdict !== true) {
  faults.push(`the document is no OpenRPC document: ${verdict.message}`);
}
const ajv = new Ajv({ strict: false, allErrors: false });
ajv.addSchema({ $id: 'document', ...document });
const byName = new Map(document.methods.map((method, index) => [method.name, { method, index }]));
const validators = new Map();
function validator(name) {
  if (!validators.has(name)) {
    const { index } = byName.get(name);
    validators.set(name, ajv.compile({ $ref: `document#/methods/${index}/result/schema` }));
  }
  return validators.get(name);
}

/** Whether the example is worth showing: a listing that is not empty, a value that is there. */
function tells(result) {
  return !Object.values(result).some((value) => Array.isArray(value) && value.length === 0);
}

async function call(name, params = {}) {
  const answer = await raw(name, params);
  if (answer.error) {
    faults.push(`${name} ${JSON.stringify(params)}: ${answer.error.message}`);
    return {};
  }
  const validate = validator(name);
  if (!validate(answer.result)) {
    faults.push(`${name} ${JSON.stringify(params)}: ${ajv.errorsText(validate.errors).slice(0, 300)}`);
  }
  if (!examples.has(name) || (!tells(examples.get(name).result) && tells(answer.result))) {
    examples.set(name, { params, result: answer.result });
  }
  return answer.result;
}

async function fails(name, params, code) {
  const { error } = await raw(name, params);
  const known = byName.get(name).method.errors.map((each) => each.code);
  if (error?.code !== code || !known.includes(code)) {
    faults.push(`${name} ${JSON.stringify(params)}: ${error?.code} where ${code} is expected and described`);
  }
}

async function list(name, member, params = {}) {
  const all = [];
  let cursor = null;
  do {
    const result = await call(name, { ...params, limit: 7, ...(cursor === null ? {} : { cursor }) });
    all.push(...(result[member] ?? []));
    cursor = result.next_cursor ?? null;
  } while (cursor !== null);
  return all;
}

const status = await call('node_status');
await call('chain_params');
await call('supply_get');
await call('beacon_get');
await call('chain_wait', { after: 0, timeout_ms: 1000 });
await call('fee_history', { count: 3 });
await list('validator_history', 'changes');
await call('validator_list');
await call('proposal_list');

const accounts = new Set();
const actions = new Set();
for (let height = 1; height <= status.height; height += 1) {
  const block = await call('chain_block', { height });
  for (const tx of block.txs) {
    const whole = await call('tx_get', { hash: tx.hash });
    actions.add(whole.action);
    accounts.add(whole.sender);
  }
}
const kinds = new Set();
for (const event of await list('event_list', 'events')) {
  kinds.add(event.event);
}
await list('event_list', 'events', { event: 'slashed' });

for (const { id } of await list('task_list', 'tasks')) {
  const task = await call('task_get', { task: id });
  await list('task_history', 'records', { task: id });
  await call('task_lineage', { task: id });
  await list('dispute_list', 'disputes', { task: id });
  for (const { index } of task.checkpoints) {
    await call('checkpoint_get', { task: id, index });
  }
  for (const { profiler } of task.tolerance?.profiles ?? []) {
    await call('profile_get', { task: id, profiler });
  }
  await call('chain_proof', { task: id });
  await call('search', { prefix: id.slice(0, 9) });
  for (const dispute of task.disputes) {
    await call('dispute_get', { dispute });
    await call('chain_proof', { dispute });
  }
}
for (const account of accounts) {
  await call('account_get', { account });
  await call('stake_get', { account });
  await list('account_history', 'txs', { account });
  await list('account_payments', 'payments', { account });
  await list('event_list', 'events', { account });
  await list('validator_history', 'changes', { account });
  await call('chain_proof', { stake: { account, role: 'solver' } });
  const found = await call('search', { prefix: account.slice(0, 16) });
  if (!found.results?.some((each) => each.id === account)) {
    faults.push(`search does not find ${account}`);
  }
}
const [first] = accounts;
await call('chain_proof', { account: first, height: 1 });

// Errors are as described.
const nothing = 'ab'.repeat(32);
for (const { method } of byName.values()) {
  await fails(method.name, { no_such_parameter: 1 }, -32602);
}
for (const [name, params] of [
  ['task_get', { task: nothing }], ['tx_get', { hash: nothing }], ['dispute_get', { dispute: nothing }],
  ['checkpoint_get', { task: nothing, index: 0 }], ['task_history', { task: nothing }],
  ['chain_block', { height: 10 ** 9 }], ['chain_light_block', { height: 10 ** 9 }],
  ['profile_get', { task: nothing, profiler: first }], ['task_lineage', { task: nothing }],
]) {
  await fails(name, params, -32001);
}
await fails('chain_proof', { task: nothing, height: 10 ** 9 }, -32002);
const shown = new Set(examples.keys());
// These cannot succeed on a recorded chain of the embedded engine: what they give is held against the description in
// the unit tests and under CometBFT.
for (const { method } of byName.values()) {
  if (page !== '-' && !shown.has(method.name) && !['rpc.discover', 'tx_submit', 'chain_light_block', 'profile_get'].includes(method.name)) {
    faults.push(`${method.name} was never called with success`);
  }
}

/** The tool takes an example's parameters by their position, so each call has the first ones of its method. */
async function positional(method) {
  const { params } = examples.get(method.name);
  if (Object.keys(params).every((name, index) => method.params[index].name === name)) {
    return examples.get(method.name);
  }
  const short = method.name === 'chain_proof'
    ? { key: examples.get(method.name).result.key }
    : Object.fromEntries(method.params.filter((each) => each.required).map(({ name }) => [name, params[name]]));
  return { params: short, result: (await raw(method.name, short)).result };
}

/** The same document with one call of each method as its example, for open-rpc-test-coverage. */
async function withExamples() {
  const out = structuredClone(document);
  out.servers = [{ name: 'node', url }];
  out.methods = out.methods.filter((method) => examples.has(method.name));
  for (const method of out.methods) {
    const { params, result } = await positional(method);
    const entries = Object.entries(params).map(([name, value]) => ({ name, value }));
    method.examples = [{ name: 'recorded', params: entries, result: { name: 'result', value: result } }];
  }
  return out;
}

async function coverage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'assay-openrpc-'));
  try {
    const file = path.join(folder, 'openrpc.json');
    fs.writeFileSync(file, JSON.stringify(await withExamples()));
    const tool = path.join(modules, 'node_modules/.bin/open-rpc-test-coverage');
    const run = spawnSync(tool, ['-s', file, '-t', 'http', '-r', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const report = JSON.parse(run.stdout.slice(run.stdout.indexOf('[')));
    const invalid = report.filter((each) => each.valid === false);
    for (const each of invalid) {
      faults.push(`open-rpc-test-coverage: ${each.methodName}: ${String(each.reason).slice(0, 200)}`);
    }
    if (report.length < examples.size) {
      faults.push(`open-rpc-test-coverage made ${report.length} calls for ${examples.size} methods`);
    }
    return { made: report.length, invalid: invalid.length };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
const covered = await coverage();

/** Long strings and lists are cut, and what depends on the run is left out. */
function shorten(value) {
  if (typeof value === 'string') {
    return value.length > 80 ? `${value.slice(0, 64)}...` : value;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, 2).map(shorten);
    return value.length > 2 ? [...kept, `... ${value.length - 2} more`] : kept;
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each)]));
  }
  return value;
}
const varying = { uptime_s: 60, last_stop: 'clean', referee_us: 21.5, version: document.info.version };
function steady(value) {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(steady);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name in varying && each !== null ? varying[name] : steady(each)]),
  );
}
let text = '# Examples of the node\'s answers\n\n'
  + 'Generated from the recorded chain of tests/vectors/chain/exact. Long strings and lists are cut here (`...`).\n\n';
for (const { name } of document.methods) {
  if (!examples.has(name)) {
    continue;
  }
  const { params, result } = examples.get(name);
  const request = { jsonrpc: '2.0', id: 1, method: name, params };
  text += `## ${name}\n\n\`\`\`json\n${JSON.stringify(request)}\n\`\`\`\n\n\`\`\`json\n`
    + `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: shorten(steady(result)) }, null, 1)}\n\`\`\`\n\n`;
}
text = `${text.trimEnd()}\n`;
if (page === '-') {
  // Another chain has the page.
} else if (flag === '--write') {
  fs.writeFileSync(page, text);
} else if (!fs.existsSync(page) || fs.readFileSync(page, 'utf8') !== text) {
  faults.push(`${page} is stale: run tests/foreign/openrpc_test.py with --write`);
}

console.log(`${calls} calls of ${byName.size} methods, ${actions.size} kinds of actions, ${kinds.size} kinds of events; `
  + `open-rpc-test-coverage: ${covered.made} calls, ${covered.invalid} invalid`);
for (const fault of faults.slice(0, 40)) {
  console.log(fault);
}
process.exit(faults.length === 0 ? 0 : 1);
