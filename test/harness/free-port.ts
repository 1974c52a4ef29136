import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to whoever asks for any: another process cannot get it before it is used. */
const [FROM, PORTS] = [20_000, 10_000]

/** A port of loopback on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * PORTS)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}
