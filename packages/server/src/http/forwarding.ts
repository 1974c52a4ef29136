import { Failure } from '@svc/contract/errors'
import { isTenantAway, onItsWay } from '@svc/platform/db/home'
import type { AnyInput, Handler, Operation, Reply, Services } from './operation.ts'
import { isRail } from './operation.ts'

/** In a request that another cell sends on: it is not sent on again. */
const FORWARDED = 'x-svc-forwarded'
/** Of the connection or of this hop (RFC 9110 section 7.6.1). */
const OF_THIS_HOP = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
])
/** Longest wait for another cell where a request has no end of its own. */
const WAIT_MS = 10_000

/**
 * A signed message that names nothing here, or what has moved away or not arrived yet, is sent to the other cells as it was signed; where it
 * names nothing there either, this cell keeps it. The bank and the card network need not know that there are cells
 * (decision X40).
 */
export function forwardingOf(operation: Operation, services: Services, handle: Handler): Handler {
  const { config, keyring } = services
  const cells = [...(config.CELL_URLS ?? [])]
  if (!isRail(operation) || cells.length === 0) return handle
  return async (input) => {
    try {
      return await handle({ ...input, caller: { ...input.caller, mayBeElsewhere: true } })
    } catch (error) {
      const isElsewhere = isTenantAway(error) || (error instanceof Failure && error.code === 'moved')
      if (!isElsewhere || input.headers[FORWARDED] !== undefined) throw error
    }
    for (const [cell, url] of cells) {
      if (cell === keyring.home.cell) continue
      const reply = await sendOn(`${url}${operation.path}`, input)
      if (reply.status !== MISDIRECTED) return reply
    }
    try {
      return await handle(input)
    } catch (error) {
      // Each cell says that its tenant is in another one, between the last steps of a move.
      throw error instanceof Failure && error.code === 'moved' ? onItsWay(error) : error
    }
  }
}

const MISDIRECTED = 421

async function sendOn(url: string, { deadlineMs, headers, query, rawBody }: AnyInput): Promise<Reply> {
  const sent = new Headers({ [FORWARDED]: '1' })
  for (const [name, value] of Object.entries(headers))
    if (!OF_THIS_HOP.has(name) && value !== undefined) sent.set(name, String(value))
  const parameters = new URLSearchParams(query as Record<string, string>).toString()
  const waitMs = deadlineMs === undefined ? WAIT_MS : Math.max(1, deadlineMs - performance.now())
  const signal = AbortSignal.timeout(Math.ceil(waitMs))
  try {
    const response = await fetch(parameters === '' ? url : `${url}?${parameters}`, {
      method: 'POST',
      headers: sent,
      body: new Uint8Array(rawBody),
      redirect: 'manual',
      signal,
    })
    const kept = ['content-type', 'retry-after'].flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() }
  } catch (cause) {
    // It may have been carried out there: the sender repeats what has no response, and a repeat changes nothing.
    throw new Failure('temporarily_unavailable', {
      description: 'Another cell, which the message may be of, does not respond',
      retryAfterSeconds: 1,
      cause,
    })
  }
}
