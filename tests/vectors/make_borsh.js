// SPDX-License-Identifier: Apache-2.0
// Writes borsh.json with the npm package `borsh` 2.0.0 (`npm install borsh@2.0.0`, then `node make_borsh.js`).
// Maps are given with ascending keys: that package writes them in insertion order.
const borsh = require('borsh');
const fs = require('fs');
const path = require('path');

const point = { struct: { x: 'i32', y: 'i32' } };
const nested = {
  struct: {
    name: 'string',
    at: point,
    tags: { array: { type: 'string' } },
    limit: { option: 'u64' },
    shares: { map: { key: 'u16', value: 'u32' } },
  },
};
const action = {
  enum: [
    { struct: { stop: { struct: {} } } },
    { struct: { move: point } },
    { struct: { say: { struct: { text: 'string', loud: 'bool' } } } },
  ],
};
const bytes = { array: { type: 'u8' } };
const cases = [
  ['u8', 'u8', 0], ['u8', 'u8', 255],
  ['u16', 'u16', 0x1234], ['u32', 'u32', 0xdeadbeef],
  ['u64', 'u64', 18446744073709551615n], ['u64', 'u64', 1n],
  ['i8', 'i8', -1], ['i16', 'i16', -2], ['i32', 'i32', -2147483648], ['i64', 'i64', -9223372036854775808n],
  ['bool', 'bool', true], ['bool', 'bool', false],
  ['string', 'string', ''], ['string', 'string', 'assay'], ['string', 'string', 'gr\u00fc\u00dfe \u20ac \ud83d\ude80'],
  ['bytes', bytes, []], ['bytes', bytes, [1, 2, 3]],
  ['vec_u32', { array: { type: 'u32' } }, [1, 2, 4294967295]],
  ['vec_string', { array: { type: 'string' } }, ['a', '', 'bc']],
  ['array_u16_3', { array: { type: 'u16', len: 3 } }, [1, 2, 3]],
  ['option_u64', { option: 'u64' }, null], ['option_u64', { option: 'u64' }, 7n],
  ['map_string_u32', { map: { key: 'string', value: 'u32' } }, new Map()],
  ['map_string_u32', { map: { key: 'string', value: 'u32' } }, new Map([['a', 1], ['ab', 2], ['b', 3]])],
  ['point', point, { x: 1, y: -1 }],
  ['nested', nested, {
    name: 'n', at: { x: 5, y: -6 }, tags: ['p', 'q'], limit: 9n, shares: new Map([[1, 10], [300, 20]]),
  }],
  ['nested', nested, { name: '', at: { x: 0, y: 0 }, tags: [], limit: null, shares: new Map() }],
  ['action', action, { stop: {} }], ['action', action, { move: { x: 3, y: 4 } }],
  ['action', action, { say: { text: 'hi', loud: true } }],
];

const plain = (key, value) => {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Map ? [...value.entries()] : value;
};
const lines = cases.map(([type, schema, value]) =>
  '  ' + JSON.stringify({ type, value, hex: Buffer.from(borsh.serialize(schema, value)).toString('hex') }, plain));
fs.writeFileSync(path.join(__dirname, 'borsh.json'), '[\n' + lines.join(',\n') + '\n]\n');
