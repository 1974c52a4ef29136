import { connect, createServer, type Server, type Socket } from 'node:net'

/** Where a connection is cut: the COMMIT never arrives, or it was carried out and its answer never arrives. */
export type Cut = 'before COMMIT' | 'after COMMIT'

const QUERY = 'Q'.charCodeAt(0)

/**
 * Stands between the service and PostgreSQL, and cuts connections around the COMMIT of batches. Speaks as much of the
 * protocol (PostgreSQL manual, "Message Formats") as it takes to tell messages apart.
 */
export class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #target: string
  #choose: () => Cut | undefined = () => undefined
  readonly cuts: Record<Cut, number> = { 'before COMMIT': 0, 'after COMMIT': 0 }

  private constructor(target: string) {
    this.#target = target
    this.#server = createServer((client) => this.#carry(client))
  }

  /** Listens on a free port of loopback, in front of the server with this socket directory and port. */
  static async open(target: { readonly host: string; readonly port: number }): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(`${target.host}/.s.PGSQL.${target.port}`)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** From now on `choose` says for each COMMIT of a batch whether and where to cut. */
  cut(choose: () => Cut | undefined): void {
    this.#choose = choose
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #carry(client: Socket): void {
    const server = connect(this.#target)
    const both = [client, server] as const
    const hangUp = () => both.forEach((socket) => socket.destroy())
    for (const socket of both) {
      this.#sockets.add(socket)
      socket.on('error', hangUp)
      socket.on('close', () => {
        hangUp()
        this.#sockets.delete(socket)
      })
    }
    let answerIsLost = false
    const split = messageSplitter()
    client.on('data', (data: Buffer) => {
      for (const message of split(data)) {
        const cut = isBatchCommit(message) ? this.#choose() : undefined
        if (cut) this.cuts[cut]++
        if (cut === 'before COMMIT') return hangUp()
        answerIsLost ||= cut === 'after COMMIT'
        server.write(message.bytes)
      }
    })
    // Every answer before the COMMIT's was awaited, so what comes next is the COMMIT's: it was carried out.
    server.on('data', (data: Buffer) => (answerIsLost ? hangUp() : client.write(data)))
  }
}

interface Message {
  readonly bytes: Buffer
  /** The connection has written a batch id since its last COMMIT. */
  readonly inBatch: boolean
}

const textOf = ({ bytes }: Message): string =>
  bytes[0] === QUERY ? bytes.toString('latin1', 5, bytes.length - 1) : ''
const isBatchCommit = (message: Message): boolean => message.inBatch && textOf(message) === 'commit'

/** Cuts one connection's stream into messages: the first has no type byte, all others have one. */
function messageSplitter(): (data: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  let inBatch = false
  return (data) => {
    rest = Buffer.concat([rest, data])
    const messages: Message[] = []
    for (;;) {
      const typeBytes = started ? 1 : 0
      if (rest.length < typeBytes + 4) return messages
      const length = typeBytes + rest.readUInt32BE(typeBytes)
      if (rest.length < length) return messages
      const message = { bytes: rest.subarray(0, length), inBatch }
      rest = rest.subarray(length)
      started = true
      const text = textOf(message)
      if (text.includes('insert into batches')) inBatch = true
      else if (text === 'commit' || text === 'rollback') inBatch = false
      messages.push(message)
    }
  }
}
