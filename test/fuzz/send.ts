import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import type { RawPlan } from './raw.ts'
import type { Request } from './requests.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** More than any limit of the target: an answer that takes longer does not come. */
const PATIENCE_MS = 20_000

export const openPool = (baseUrl: string): Pool =>
  new Pool(baseUrl, { connections: 2, pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS })

export async function send(pool: Dispatcher, { method, path, headers, body }: Request): Promise<Answer> {
  const answer = await pool.request({
    method: method as 'GET',
    path,
    headers: [...headers],
    ...(body && { body }),
  })
  if (String(answer.headers['content-type']).startsWith('text/event-stream')) {
    answer.body.on('error', () => undefined).destroy()
    return { status: answer.statusCode, headers: answer.headers, text: '' }
  }
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}

/** Sends by the pool; when that gets no answer, once more on a connection of its own. Undefined when neither did. */
export async function sendTwice(
  baseUrl: string,
  pool: Pool,
  request: Request,
): Promise<Answer | 'unsendable' | undefined> {
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
  let heard = ''
  socket.setEncoding('latin1').on('data', (part: string) => (heard += part))
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
  // Whoever keeps the connection open for its next request is served: that is no fault.
  return done || !ends ? heard : undefined
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
export function rawDump(baseUrl: string, { text, ends }: RawPlan): string {
  const { hostname, port } = new URL(baseUrl)
  return `xxd -r -p <<< ${Buffer.from(text, 'latin1').toString('hex')} | nc ${ends ? '-N ' : ''}${hostname} ${port}`
}
