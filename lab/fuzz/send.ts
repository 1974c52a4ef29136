import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import type { RawPlan } from './raw.ts'
import type { Request } from './requests.ts'

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** More than any limit of the target: an answer that takes longer does not come. */
const PATIENCE_MS = 20_000

export const openPool = (baseUrl: string, connections = 2): Pool =>
  new Pool(baseUrl, { connections, pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS })

export async function send(
  pool: Dispatcher,
  { method, path, headers, body }: Request,
): Promise<HttpResponse> {
  const response = await pool.request({
    method: method as 'GET',
    path,
    headers: [...headers],
    ...(body && { body }),
  })
  if (String(response.headers['content-type']).startsWith('text/event-stream')) {
    response.body.on('error', () => undefined).destroy()
    return { status: response.statusCode, headers: response.headers, text: '' }
  }
  return { status: response.statusCode, headers: response.headers, text: await response.body.text() }
}

/** Sends by the pool; when that gets no answer, once more on a connection of its own. Undefined when neither did. */
export async function sendTwice(
  baseUrl: string,
  pool: Pool,
  request: Request,
): Promise<HttpResponse | 'unsendable' | undefined> {
  const alone = new Pool(baseUrl, { connections: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS })
  try {
    for (const way of [pool, alone]) {
      try {
        return await within(PATIENCE_MS + 5_000, send(way, request))
      } catch (error) {
        if (isUnsendable(request, error)) return 'unsendable'
      }
    }
    return undefined
  } finally {
    void alone.destroy()
  }
}

/** What the client library itself refuses to send is no request: it takes a host that begins with a bracket for IPv6. */
function isUnsendable({ headers }: Request, error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return true
  const host = headers[headers.findIndex((text, i) => i % 2 === 0 && /^host$/i.test(text)) + 1] ?? ''
  return code === 'ERR_ASSERTION' && /^\[[^\]]*$/.test(host)
}

/** Also bounds the wait for a free connection, which the times of a pool do not. */
function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** All that comes back on a connection of its own until it is closed; undefined when it stays open too long. */
export async function sendRaw(baseUrl: string, { text, piece, ends }: RawPlan): Promise<string | undefined> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => (received += part))
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
  await Promise.race([once(socket, 'connect'), closed])
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length && socket.writable; at += piece || bytes.length) {
    socket.write(bytes.subarray(at, piece === 0 ? undefined : at + piece))
    if (piece > 0) await nextTurn()
  }
  if (ends) socket.end()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ends ? PATIENCE_MS : 4_000)
  })
  const done = await Promise.race([closed, late])
  clearTimeout(timer)
  socket.destroy()
  // Whoever keeps the connection open for its next request is served: that is no problem.
  return done || !ends ? received : undefined
}

/**
 * The response to a request that asks to close its connection; a stream is left once its headers are there. Undefined
 * when none came.
 */
export async function exchange(baseUrl: string, bytes: string): Promise<HttpResponse | undefined> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    const isFirst = !received.includes('\r\n\r\n')
    received += part
    if (isFirst && /\r\ncontent-type: text\/event-stream[\s\S]*\r\n\r\n/i.test(received)) socket.destroy()
  })
  socket.write(Buffer.from(bytes, 'latin1'))
  await new Promise((resolve) => socket.once('close', resolve))
  return readResponse(received)
}

function readResponse(all: string): HttpResponse | undefined {
  // RFC 9110 section 15.2: interim responses come before the one that counts.
  const received = all.replace(/^(?:HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/, '')
  const [head = '', status] = /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/.exec(received) ?? []
  if (head === '') return undefined
  const headers: Record<string, string> = {}
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const body = received.slice(head.length)
  const text = headers['transfer-encoding'] === 'chunked' ? unchunked(body) : body
  return { status: Number(status), headers, text: Buffer.from(text, 'latin1').toString() }
}

function unchunked(body: string): string {
  let text = ''
  for (let at = 0; ; ) {
    const [line = '', size = '0'] = /^([0-9a-f]+)\r\n/i.exec(body.slice(at, at + 20)) ?? []
    const length = Number.parseInt(size, 16)
    if (length === 0) return text
    text += body.slice(at + line.length, at + line.length + length)
    at += line.length + length + 2
  }
}

const quoted = (text: string): string => `$'${text.replace(/[^\x20-\x7e]|['\\]/g, hex)}'`
const hex = (char: string): string => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`

/** The request as a command line that sends it again. */
export function curlOf(baseUrl: string, { method, path, headers, body }: Request): string {
  const fields = []
  for (let i = 0; i < headers.length; i += 2) fields.push(`-H ${quoted(`${headers[i]}: ${headers[i + 1]}`)}`)
  const data = body ? [`--data-binary @<(xxd -r -p <<< ${body.toString('hex')})`] : []
  return [`curl -si --path-as-is -X ${method} ${quoted(baseUrl + path)}`, ...fields, ...data].join(' ')
}

/** What was written on the connection, to be written again. */
export function rawDump(baseUrl: string, { text, ends }: Pick<RawPlan, 'text' | 'ends'>): string {
  const { hostname, port } = new URL(baseUrl)
  return `xxd -r -p <<< ${Buffer.from(text, 'latin1').toString('hex')} | nc ${ends ? '-N ' : ''}${hostname} ${port}`
}
