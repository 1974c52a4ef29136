import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../harness/client.ts'
import { openService, type TestService } from '../harness/service.ts'

const SOCKETS = 800
const SLOW_MS = 20_000

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService()
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

/** Beginnings that never become a request, each kept alive by a byte now and then. */
const BEGINNINGS = [
  'GET /livez HTTP/1.1\r\nHost: a\r\nx: ',
  'POST /api/v0/merchant/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n',
  'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n',
  'G',
]

// The time limits are about the clock, not about PostgreSQL: one engine is enough.
test.runIf(process.env['TEST_POSTGRES'] === 'package')(
  'of 800 slow connections none is open after 20 s at the default limits, and a well-behaved client is always served meanwhile',
  async () => {
    const { hostname, port } = new URL(service.baseUrl)
    const open = new Set<Socket>()
    for (let i = 0; i < SOCKETS; i++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined).resume()
      open.add(socket.once('close', () => open.delete(socket)))
      await once(socket, 'connect')
      socket.write(BEGINNINGS[i % BEGINNINGS.length]!)
    }
    const trickle = setInterval(() => open.forEach((socket) => socket.writable && socket.write('a')), 900)
    const until = performance.now() + SLOW_MS
    let served = 0
    while (performance.now() < until && open.size > 0) {
      const response = await client.post('/api/v0/qr-code/search', { limit: 1 })
      expect(response.status, response.text).toBe(200)
      served++
      await sleep(20)
    }
    clearInterval(trickle)
    expect([open.size, served > 0]).toEqual([0, true])
  },
)
