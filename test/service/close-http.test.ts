import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { HttpCloser } from '@svc/app/close-http'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** More than the buffers between a server and a reader who stands still hold. */
const LARGE = 64 * 1024 * 1024

let folder: string
let pair: { cert: Buffer; key: Buffer }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-close-'))
  const [cert, key] = [join(folder, 'crt'), join(folder, 'key')]
  const req = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=svc'
  await promisify(execFile)('openssl', [...req.split(' '), '-out', cert, '-keyout', key])
  pair = { cert: await readFile(cert), key: await readFile(key) }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const portOf = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port

async function secured(app: FastifyInstance): Promise<Socket> {
  const accepted = once(app.server, 'secureConnection')
  const socket = connectTls({ port: portOf(app), host: '127.0.0.1', rejectUnauthorized: false })
  await accepted
  return socket.on('error', () => undefined)
}

async function plain(app: FastifyInstance): Promise<Socket> {
  const accepted = once(app.server, 'connection')
  const socket = connectTcp(portOf(app), '127.0.0.1')
  await accepted
  return socket.on('error', () => undefined)
}

const http = () => fastify({ keepAliveTimeout: 600_000 })
/** The types of Fastify distinguish servers with TLS from those without, which nothing here depends on. */
const https = () => fastify({ keepAliveTimeout: 600_000, https: pair }) as unknown as FastifyInstance

test.each([
  ['HTTP', http, plain],
  ['HTTPS', https, secured],
] as const)(
  'a server that closes waits until a slow reader has its whole response, then closes the connection (%s)',
  async (_, build, open) => {
    const app = build()
    const closer = new HttpCloser(app)
    app.get('/', (_request, reply) => reply.send(Buffer.alloc(LARGE)))
    await app.listen({ port: 0, host: '127.0.0.1' })
    const reader = await open(app)
    const requested = once(app.server, 'request') as Promise<[unknown, ServerResponse]>
    reader.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const [, response] = await requested
    while (!response.writableEnded) await nextTurn()
    const closed = closer.close()
    let received = 0
    reader.on('data', (part: Buffer) => (received += part.length)).resume()
    await once(reader, 'close')
    expect(received).toBeGreaterThan(LARGE)
    await closed
  },
)

test.each([
  ['of HTTP', http, plain],
  ['of HTTPS after its handshake', https, secured],
  ['of HTTPS before its handshake', https, plain],
] as const)(
  'a connection %s that sends nothing does not keep the server from closing',
  async (_, build, open) => {
    const app = build()
    const closer = new HttpCloser(app)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const silent = (await open(app)).resume()
    await closer.close()
    if (!silent.closed) await once(silent, 'close')
  },
)

test('an incomplete request keeps a server from closing no longer than its time limit', async () => {
  const app = fastify({ http: { headersTimeout: 100, connectionsCheckingInterval: 100 } })
  const closer = new HttpCloser(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const caller = (await plain(app)).resume()
  caller.write('GET / HTTP/1.1\r\nHost: a\r\n')
  // Behind it on another connection, so that the server has read its beginning.
  await fetch(`http://127.0.0.1:${portOf(app)}/`)
  await closer.close()
})
