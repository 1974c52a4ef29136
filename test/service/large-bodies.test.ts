import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATH, upload } from '../harness/bulk.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { asPartner, newPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

const OF_PROCESS_MAX = 4
/** Larger than the usual body. */
const LARGE = Buffer.from(`${'a'.repeat(1_000)}\n`.repeat(100))
const SMALL = Buffer.from('a\n')

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const newClient = async (): Promise<Client> => asPartner(service.client, await newPartner(service))

/** Begins a large upload that stays without its end; `before` is pipelined ahead of it. */
function beginUpload({ headers }: Client, length = `content-length: ${LARGE.length}`, before = '') {
  const { hostname, port } = new URL(service.client.baseUrl)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${PATH} HTTP/1.1\r\nhost: a\r\n${fields.join('')}content-type: application/x-ndjson\r\n${length}\r\n\r\n`
  socket.write(`${before}${head}`)
  return socket
}

const statusOf = async (client: Client, body = LARGE): Promise<number> => (await upload(client, body)).status

/** Occupies all slots of a tenant: of three uploads that never end, one is refused. */
async function occupy(client: Client, length?: string): Promise<Socket[]> {
  const sockets = [1, 2, 3].map(() => beginUpload(client, length))
  await Promise.any(sockets.map((socket) => once(socket, 'data')))
  return sockets
}

const end = (sockets: readonly Socket[]) => sockets.forEach((socket) => socket.resetAndDestroy())
const becomesFree = (client: Client) => expect.poll(() => statusOf(client), { timeout: 10_000 }).toBe(200)

test.each(['content-length: 100000', 'transfer-encoding: chunked'])(
  'a tenant sends two large bodies at a time (%s): the third is 503, and small ones and other tenants are served',
  async (length) => {
    const [busy, other] = [await newClient(), await newClient()]
    const sockets = await occupy(busy, length)
    const refused = await upload(busy, LARGE)
    expect(refused).toMatchObject({ status: 503, error: 'overloaded', headers: { 'retry-after': '1' } })
    expect(await statusOf(busy, SMALL)).toBe(200)
    expect(await statusOf(other)).toBe(200)
    end(sockets)
    await becomesFree(busy)
  },
)

test('a process reads four large bodies at a time, whichever tenants send them', async () => {
  const [one, two, third] = [await newClient(), await newClient(), await newClient()]
  const sockets = [...(await occupy(one)), ...(await occupy(two))]
  expect((await upload(third, LARGE)).error).toBe('overloaded')
  expect(await statusOf(third, SMALL)).toBe(200)
  end(sockets)
  await becomesFree(third)
})

test('a large body behind another response of a connection that breaks releases its slot', async () => {
  const client = await newClient()
  const { authorization } = client.headers
  const stream = `GET /api/v0/events/stream HTTP/1.1\r\nhost: a\r\nauthorization: ${String(authorization)}\r\n\r\n`
  const sockets: Socket[] = []
  do {
    const socket = beginUpload(client, undefined, stream)
    sockets.push(socket)
    // By then both of its requests have been read.
    await once(socket, 'data')
  } while ((await statusOf(client)) !== 503)
  end(sockets)
  await becomesFree(client)
})

test('slots are free again after responses, and after rejections', async () => {
  const client = await newClient()
  const tooLarge = Buffer.alloc(16 * 1024 * 1024 + 1, 'a')
  for (let n = 0; n <= OF_PROCESS_MAX; n++) {
    await expect.poll(() => statusOf(client, tooLarge)).toBe(413)
    await becomesFree(client)
  }
})

test('a line longer than a JWE can be is rejected by its number; the longest is accepted', async () => {
  const client = await newClient()
  const longest = `"${'a'.repeat(65_536)}"`
  const refused = await upload(client, ['a', '', `${longest}a`])
  expect([refused.status, refused.error, refused.errorDescription]).toEqual([
    400,
    'validation_failed',
    'Line 3 must have at most 65536 characters, as a JWE has',
  ])
  expect(payloadOf(await upload(client, ['a', longest])).rows).toBe(2)
})
