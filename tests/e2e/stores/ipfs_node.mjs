// SPDX-License-Identifier: Apache-2.0
// A node of IPFS without a network: Helia's blocks and pins behind the interface of trustless gateways and the part of
// Kubo's RPC that writes raw blocks. Prints its address, and ends when its standard input does, or only with a signal. SIGUSR2
// closes its port, and the next one opens it again.
//
//     node ipfs_node.mjs [--until-signal]
import http from 'node:http'

// Helia's queues want it, which Node.js has from version 22 on.
Promise.withResolvers ??= function () {
  const out = {}
  out.promise = new Promise((resolve, reject) => Object.assign(out, { resolve, reject }))
  return out
}

const { Helia } = await import('@helia/utils')
const { dns } = await import('@multiformats/dns')
const { MemoryBlockstore } = await import('blockstore-core')
const { MemoryDatastore } = await import('datastore-core')
const { CID } = await import('multiformats/cid')
const raw = await import('multiformats/codecs/raw')
const { sha256 } = await import('multiformats/hashes/sha2')

const blockstore = new MemoryBlockstore()
const helia = new Helia({
  blockstore, datastore: new MemoryDatastore(), dns: dns(), blockBrokers: [], routers: [], hashers: [], codecs: []
})

async function bodyOf (request) {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function isPinned (cid) {
  return helia.pins.isPinned(cid)
}

async function setPinned (cid, isPinned) {
  for await (const _ of isPinned ? helia.pins.add(cid, { depth: 0 }) : helia.pins.rm(cid)) { /* each block */ }
}

/** Takes the one file of a form, whose reader the platform has. */
async function fileOf (request) {
  const headers = { 'content-type': request.headers['content-type'] }
  const form = await new Response(await bodyOf(request), { headers }).formData()
  return new Uint8Array(await form.get('data').arrayBuffer())
}

async function putBlock (request) {
  const bytes = await fileOf(request)
  const cid = CID.createV1(raw.code, await sha256.digest(bytes))
  await helia.blockstore.put(cid, bytes)
  if (!await isPinned(cid)) await setPinned(cid, true)
  return { Key: cid.toString(), Size: bytes.length }
}

async function answer (request, url) {
  const gateway = url.pathname.match(/^\/ipfs\/([a-z0-9]+)$/)
  if (gateway && request.method === 'GET') {
    const cid = CID.parse(gateway[1])
    if (url.searchParams.get('format') !== 'raw' || request.headers.accept !== 'application/vnd.ipld.raw') return [406]
    return await blockstore.has(cid) ? [200, await blockstore.get(cid)] : [404]
  }
  if (request.method !== 'POST') return [405]
  const wants = { 'cid-codec': 'raw', mhtype: 'sha2-256', pin: 'true' }
  if (url.pathname === '/api/v0/block/put' && Object.keys(wants).every(key => url.searchParams.get(key) === wants[key])) {
    return [200, JSON.stringify(await putBlock(request))]
  }
  const cid = CID.parse(url.searchParams.get('arg'))
  if (url.pathname === '/api/v0/pin/add') {
    if (!await blockstore.has(cid)) return [500, JSON.stringify({ Message: 'not found' })]
    if (!await isPinned(cid)) await setPinned(cid, true)
    return [200, '{}']
  }
  if (url.pathname === '/api/v0/pin/rm' || url.pathname === '/api/v0/pin/ls') {
    if (!await isPinned(cid)) return [500, JSON.stringify({ Message: 'not pinned or pinned indirectly' })]
    if (url.pathname.endsWith('/rm')) await setPinned(cid, false)
    return [200, '{}']
  }
  return [404]
}

const server = http.createServer((request, response) => {
  answer(request, new URL(request.url, 'http://localhost')).then(([status, body]) => {
    response.writeHead(status)
    response.end(body)
  }, error => {
    response.writeHead(500)
    response.end(JSON.stringify({ Message: String(error) }))
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
let awayFrom = 0
let stay = null // keeps the process while it has no port
process.on('SIGUSR2', () => {
  if (awayFrom !== 0) {
    server.listen(awayFrom, '127.0.0.1')
    awayFrom = 0
    clearInterval(stay)
    return
  }
  awayFrom = server.address().port
  stay = setInterval(() => {}, 1000)
  server.close()
  server.closeAllConnections()
})
if (!process.argv.includes('--until-signal')) process.stdin.on('end', () => process.exit(0)).resume()
