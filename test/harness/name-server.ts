import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

const [A, AAAA] = [1, 28]

/** A name server on loopback (RFC 1035) with the addresses that it is given; of names under `silent.test` it says nothing. */
export class NameServer {
  readonly #socket: Socket
  /** Names that were asked for, each once. */
  readonly queried = new Set<string>()

  private constructor(socket: Socket, addresses: Readonly<Record<string, readonly string[]>>) {
    this.#socket = socket
    socket.on('message', (query, { port, address }) => {
      const { name, type, end } = questionOf(query)
      this.queried.add(name)
      if (name.endsWith('silent.test')) return
      const known = addresses[name]
      const wanted = known?.filter((one) => (one.includes(':') ? AAAA : A) === type) ?? []
      const header = Buffer.from(query.subarray(0, 12))
      // Response, recursion available; NXDOMAIN for unknown names.
      header.writeUInt16BE(known ? 0x8180 : 0x8183, 2)
      header.writeUInt16BE(1, 4)
      header.writeUInt16BE(wanted.length, 6)
      header.writeUInt32BE(0, 8)
      socket.send(
        Buffer.concat([header, query.subarray(12, end), ...wanted.map((one) => recordOf(type, one))]),
        port,
        address,
      )
    })
  }

  static async open(addresses: Readonly<Record<string, readonly string[]>> = {}): Promise<NameServer> {
    // Hundreds of questions arrive at once.
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4_194_304 }).bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new NameServer(socket, addresses)
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  silentNames(): number {
    return [...this.queried].filter((name) => name.endsWith('silent.test')).length
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function recordOf(type: number, address: string): Buffer {
  const data =
    type === A
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(
          address
            .split(':')
            .map((part) => part.padStart(4, '0'))
            .join(''),
          'hex',
        )
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(60, 6)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([record, data])
}
