import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { fail } from '@svc/contract/errors'
import { EVENT_TYPES } from '@svc/contract/events'
import { failField } from '@svc/contract/fail-fields'
import {
  eventToWire,
  POSITION_DOCUMENTED,
  POSITION_PATTERN,
  POSITION_RULE,
  readFeed,
  SEQUENCE_PATTERN,
} from '@svc/core/webhooks/event'
import { EventTail } from '@svc/core/webhooks/event-tail'
import { feedPosition } from '@svc/core/webhooks/feed-horizon'
import { abortWith } from '@svc/platform/abort'
import type { NumberedEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Caller, type Services, streamingQuery } from '../http/operation.ts'

const STREAMS_MAX = 5
const PAGE_EVENTS = 200
/** Proxies close what is silent for a minute. */
const HEARTBEAT_MS_MAX = 15_000
/** A revoked credential hears no more after this time, in milliseconds (decision A4 gives it a second). */
const RECHECK_MS = 500

const StreamQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: POSITION_PATTERN,
        'x-rule': POSITION_RULE,
        'x-documented': POSITION_DOCUMENTED,
        description:
          'Begin after this number, or with `latest` after the newest event; `Last-Event-ID` wins over it. Without both, begin with the oldest event that is kept',
      }),
    ),
    type: Type.Optional(Type.Enum(EVENT_TYPES, { description: 'Only this type' })),
  },
  { additionalProperties: false },
)

/** The same feed as server-sent events (WHATWG HTML, section 9.2): `id` is the sequence, `data` the event. */
export const streamEvents = streamingQuery({
  id: 'streamEvents',
  method: 'GET',
  path: '/api/v0/events/stream',
  tag: 'Events',
  summary: 'Stream events',
  description: `Server-sent events (\`text/event-stream\`): what is in the feed after \`after\`, then whatever happens, each with its sequence as \`id\`. Connect again with \`Last-Event-ID\` and nothing is missed; every \`EventSource\` does. At most ${STREAMS_MAX} streams for each tenant.`,
  auth: 'tenant',
  scope: 'events:read',
  envelope: 'bare',
  headers: { 'Last-Event-ID': 'Number of the last event that was received' },
  query: StreamQuery,
  result: Type.String(),
  produces: 'text/event-stream',
  errors: ['too_many_event_streams', 'events_forgotten', 'events_ahead'],

  mount(services: StreamServices) {
    const streams = services.eventStreams
    return async ({ caller, query: { after, type }, headers }) => {
      const last = headers['last-event-id']
      if (last !== undefined && !new RegExp(SEQUENCE_PATTERN).test(String(last)))
        failField('Last-Event-ID', 'format', 'must be a sequence number', 'header')
      const from = last === undefined ? after : String(last)
      const { tenantId } = caller
      const begin = await services.database.read([tenantId], (tx) => feedPosition(tx, tenantId, from))
      return {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
          connection: 'close',
        },
        body: streams.open(caller, begin, type),
      }
    }
  },
})

type StreamTools = Pick<Services, 'config' | 'database' | 'log'>

/** For the operation that opens streams. */
export interface StreamServices extends Services {
  readonly eventStreams: EventStreams
}

/** The open streams of a process. */
export class EventStreams {
  readonly #services: StreamTools
  readonly #tail: EventTail
  readonly #open = new Map<string, number>()
  readonly #ending = new AbortController()

  constructor(services: StreamTools) {
    this.#services = services
    this.#tail = new EventTail(services)
  }

  /** Throws `too_many_event_streams` when the tenant has its share. */
  open(caller: Caller, after: bigint, type: string | undefined): Readable {
    const { tenantId } = caller
    const count = this.#open.get(tenantId) ?? 0
    if (count >= STREAMS_MAX) fail('too_many_event_streams', { retryAfterSeconds: 5 })
    this.#open.set(tenantId, count + 1)
    const gone = new AbortController()
    abortWith(gone, this.#ending.signal)
    const stream = readableOf(this.#report(caller, after, type, gone.signal), () => gone.abort())
    stream.once('close', () => {
      const left = this.#open.get(tenantId)! - 1
      if (left === 0) this.#open.delete(tenantId)
      else this.#open.set(tenantId, left)
    })
    return stream
  }

  /** Ends every stream, so that the process can drain; their readers connect again, elsewhere. */
  close(): void {
    this.#ending.abort()
  }

  async *#report(
    caller: Caller,
    from: bigint,
    type: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const { config, database } = this.#services
    const { tenantId } = caller
    const heartbeatMs = Math.min(HEARTBEAT_MS_MAX, config.STREAM_IDLE_MS / 2)
    yield 'retry: 1000\n\n'
    let after = from
    let spokeAtMs = performance.now()
    for (let grew = true; !signal.aborted; ) {
      if (caller.stillValid && !(await caller.stillValid())) return
      // Without the filter, so that the place in the feed moves on over what is filtered out.
      const rows: NumberedEvent[] = grew
        ? await database.read([tenantId], (tx) => readFeed(tx, tenantId, after, PAGE_EVENTS))
        : []
      // A reader so slow that the feed was forgotten beneath it: when it connects again, it gets `events_forgotten`.
      if (rows[0] && rows[0].sequence !== after + 1n) return
      after = rows.at(-1)?.sequence ?? after
      const wanted = rows.filter((row) => type === undefined || row.type === type)
      const text = wanted.map((row) => toMessage(row, config.BUSINESS_TIME_ZONE)).join('')
      if (text !== '' || performance.now() - spokeAtMs >= heartbeatMs) {
        yield text || ': still here\n\n'
        spokeAtMs = performance.now()
      }
      if (rows.length === PAGE_EVENTS) continue
      const waited = await this.#tail.wait(tenantId, after, RECHECK_MS, signal)
      // A restored feed ends before the reader's position: connecting again, the reader gets `events_ahead`.
      if (waited === 'ends before') return
      grew = waited === 'grown'
    }
  }
}

/**
 * `Readable.from` waits for the next piece before it ends a generator: a stream whose reader is gone would count until
 * the next heartbeat. This one calls `onDestroy` first, which ends the wait.
 */
function readableOf(pieces: AsyncGenerator<string>, onDestroy: () => void): Readable {
  return new Readable({
    highWaterMark: 65_536,
    read() {
      pieces.next().then(
        ({ value, done }) => void (this.destroyed || this.push(done ? null : value)),
        (error: Error) => void this.destroy(error),
      )
    },
    destroy(error, done) {
      onDestroy()
      callbackify(() => pieces.return(undefined))(() => done(error))
    },
  })
}

const toMessage = (row: NumberedEvent, timeZone: string): string =>
  `id: ${row.sequence}\nevent: ${row.type}\ndata: ${JSON.stringify(eventToWire(row, timeZone))}\n\n`
