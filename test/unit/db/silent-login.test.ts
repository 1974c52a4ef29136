import { createServer, type Socket } from 'node:net'
import { Database, isUnavailable } from '@svc/platform/db/database'
import { openLog } from '@svc/platform/log'
import { expect, test } from 'vitest'

/** `AuthenticationOk` and `ReadyForQuery` (PostgreSQL manual, "Message Formats"). */
const LOGGED_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

test('a server that logs clients in and then stays silent counts as unavailable: callers get 503', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(LOGGED_IN))
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  const database = new Database({ url: `postgresql://svc@127.0.0.1:${port}/svc` }, 4, openLog('silent'))
  try {
    const error: unknown = await database
      .directory({ name: 'one', text: 'select 1' })
      .catch((e: unknown) => e)
    expect(isUnavailable(error), String(error)).toBe(true)
  } finally {
    for (const socket of sockets) socket.destroy()
    await database.close()
    await new Promise((resolve) => server.close(resolve))
  }
}, 20_000)
