import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** How often the connections that are still open are checked while the server closes. */
const CHECK_MS = 100

/** Closes an HTTP server in order. Created before the server listens, so that no connection escapes it. */
export class HttpCloser {
  readonly #http: FastifyInstance
  readonly #sockets = new Set<Socket>()
  readonly #closing = new AbortController()

  constructor(http: FastifyInstance) {
    this.#http = http
    // With TLS, Node reports a connection as it is accepted, and its encrypted socket after the handshake.
    for (const event of ['connection', 'secureConnection'])
      http.server.on(event, (socket: Socket) => {
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
      })
  }

  /** Aborted when closing begins: no request is accepted any more, and those that only wait are to end. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The listener first: once Fastify closes, it takes no requests to ourselves either, on which others may wait. */
  async close(): Promise<void> {
    this.#closing.abort()
    const { server } = this.#http
    if (server.listening) {
      // `close` of the HTTP server would truncate responses that are not written out yet, and stop the check of timeouts.
      const closed = new AbortController()
      NetServer.prototype.close.call(server, () => closed.abort())
      this.#closeIdle()
      while (!closed.signal.aborted) {
        await sleep(CHECK_MS, undefined, { signal: closed.signal }).catch(() => undefined)
        this.#closeIdle()
        this.#closeSilent()
      }
    }
    await this.#http.close()
  }

  /** To Node a connection is idle once its response has ended, though a slow reader has yet to receive the rest. */
  #closeIdle(): void {
    for (const { writableLength } of this.#sockets) if (writableLength > 0) return
    this.#http.server.closeIdleConnections()
  }

  /** To Node a connection that has sent nothing yet is not idle. Browsers open such ones ahead of their requests. */
  #closeSilent(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
