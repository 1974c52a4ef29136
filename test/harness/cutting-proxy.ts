import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * What happens to a connection at the COMMIT of a batch. Cut: both sides see the connection end. Frozen: nothing more
 * arrives at either side, which neither of them notices. `within`: the first half of the COMMIT message arrives.
 */
export type Cut = 'before COMMIT' | 'after COMMIT'
export type Freeze = 'freeze before COMMIT' | 'freeze within COMMIT' | 'freeze after COMMIT'
type AtCommit = Cut | Freeze

const QUERY = 'Q'.charCodeAt(0)

/**
 * Stands between the service and PostgreSQL, and cuts or freezes connections. Speaks as much of the protocol
 * (PostgreSQL manual, "Message Formats") as it takes to tell messages apart.
 */
export class CuttingProxy {
  readonly #server: Server
  readonly #links = new Set<Link>()
  readonly #target: string
  #choose: () => AtCommit | undefined = () => undefined
  #paused = false
  #stall: () => number = () => 0
  readonly cuts: Record<AtCommit, number> = {
    'before COMMIT': 0,
    'after COMMIT': 0,
    'freeze before COMMIT': 0,
    'freeze within COMMIT': 0,
    'freeze after COMMIT': 0,
  }

  private constructor(target: string) {
    this.#target = target
    // Without Nagle’s algorithm: a small packet would wait some 40 ms for the other side’s delayed acknowledgement.
    this.#server = createServer({ noDelay: true }, (client) => this.#carry(client))
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

  /** From now on `choose` says for each COMMIT of a batch whether and how its connection breaks. */
  cut(choose: () => AtCommit | undefined): void {
    this.#choose = choose
  }

  /** Freezes every open connection for good; new ones work. Returns how many were frozen. */
  freeze(): number {
    const open = [...this.#links].filter((link) => !link.isFrozen)
    for (const link of open) link.freeze()
    return open.length
  }

  /** Nothing arrives any more, on new connections either, until `resume`, which delivers what was held up. */
  pause(): void {
    this.#paused = true
    for (const link of this.#links) link.pause()
  }

  resume(): void {
    this.#paused = false
    for (const link of this.#links) link.resume()
  }

  /** Like lost packets that are sent again: `stall` says for each packet how many milliseconds it is late. */
  delay(stall: () => number): void {
    this.#stall = stall
  }

  /** Ends every open connection, as a reset of the network does; both sides see it. */
  drop(): void {
    for (const link of this.#links) link.hangUp()
  }

  async close(): Promise<void> {
    this.drop()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #carry(client: Socket): void {
    const server = connect(this.#target)
    const link = new Link(client, server)
    this.#links.add(link)
    client.once('close', () => this.#links.delete(link))
    if (this.#paused) link.pause()
    let lost: AtCommit | undefined
    const split = messageSplitter()
    client.on('data', (data: Buffer) => {
      link.stall(client, this.#stall())
      for (const message of split(data)) {
        if (link.isFrozen) return
        const fate = isBatchCommit(message) ? this.#choose() : undefined
        if (fate) this.cuts[fate]++
        if (fate === 'before COMMIT') return link.hangUp()
        if (fate === 'freeze before COMMIT') return link.freeze()
        if (fate === 'freeze within COMMIT') {
          server.write(message.bytes.subarray(0, message.bytes.length / 2))
          return link.freeze()
        }
        lost ??= fate
        server.write(message.bytes)
      }
    })
    // Every response before the COMMIT's was awaited, so what comes next is the COMMIT's: it was carried out.
    server.on('data', (data: Buffer) => {
      if (lost === 'after COMMIT') return link.hangUp()
      if (lost === 'freeze after COMMIT') return link.freeze()
      link.stall(server, this.#stall())
      client.write(data)
    })
  }
}

/** Both sides of one connection. A socket that is not read notices neither data nor the end of the other side. */
class Link {
  readonly #sockets: readonly Socket[]
  isFrozen = false
  #paused = false
  #stalls = new Map<Socket, NodeJS.Timeout>()

  constructor(...sockets: readonly Socket[]) {
    this.#sockets = sockets
    for (const socket of sockets) {
      socket.on('error', () => this.hangUp())
      socket.on('close', () => this.hangUp())
    }
  }

  hangUp(): void {
    for (const timer of this.#stalls.values()) clearTimeout(timer)
    for (const socket of this.#sockets) socket.destroy()
  }

  freeze(): void {
    this.isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  pause(): void {
    this.#paused = true
    for (const socket of this.#sockets) socket.pause()
  }

  resume(): void {
    this.#paused = false
    for (const socket of this.#sockets) this.#read(socket)
  }

  /** Reads no more from this side for so long. */
  stall(socket: Socket, ms: number): void {
    if (ms <= 0 || this.isFrozen) return
    socket.pause()
    const timer = setTimeout(() => {
      this.#stalls.delete(socket)
      this.#read(socket)
    }, ms)
    this.#stalls.set(socket, timer)
  }

  #read(socket: Socket): void {
    if (!this.isFrozen && !this.#paused && !this.#stalls.has(socket)) socket.resume()
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
