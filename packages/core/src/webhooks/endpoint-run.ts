import { newId } from '@svc/contract/id-kinds'
import type { NameLookups } from '@svc/platform/name-lookups'
import type { CoreServices } from '@svc/platform/services'
import type { Attempt } from './attempt.ts'
import {
  type Delivery,
  type Lease,
  liveSecrets,
  type Outcome,
  type Target,
  type Wanted,
} from './delivery-store.ts'
import { eventToWire } from './event.ts'
import type { OutcomeWriter } from './outcome-writer.ts'
import { nextAttemptMs } from './retry-schedule.ts'
import { Sender, type Sent } from './sender.ts'
import { type SigningKey, signedHeaders } from './signing.ts'

/** Connections to one endpoint; one of them is kept for repeats. */
const SLOTS = 8
/** An endpoint that fails so often in a row gets one connection until it responds again. */
const FAILURES_MAX = 5
const WINDOW = 200

export interface RunTools {
  readonly services: CoreServices
  readonly writer: OutcomeWriter
  readonly keys: () => readonly SigningKey[]
  readonly mayReach: (address: string) => boolean
  readonly names: NameLookups
  /** Whether the lease on the endpoints surely holds still: without it another process may be at work. */
  readonly leased: () => boolean
  /** The time by the database's clock, in milliseconds since 1970. */
  readonly now: () => number
  /** What was loaded is nearly used up, and there was more. */
  readonly onRoom: () => void
}

/**
 * Delivers to one endpoint. Events of one object wait for each other's first attempt, all others go side by side; what
 * failed comes back later and holds up nothing (decision E3).
 */
export class EndpointRun {
  readonly #tools: RunTools
  readonly #inFlight = new Map<bigint, Delivery>()
  readonly #objects = new Set<string>()
  #lease: Lease
  #target: Target
  #sender: Sender
  #waiting: Delivery[] = []
  #loaded = 0n
  #failures = 0
  #more = false
  #closed = false

  constructor(tools: RunTools, lease: Lease, target: Target) {
    this.#tools = tools
    this.#lease = lease
    this.#target = target
    this.#sender = this.#newSender()
  }

  get modifiedAtMs(): number {
    return this.#lease.modifiedAtMs
  }

  get idle(): boolean {
    return this.#inFlight.size === 0 && this.#waiting.length === 0
  }

  /** Goes on with the endpoint's new address, headers and secrets. */
  change(lease: Lease, target: Target): void {
    const moved = target.url !== this.#target.url
    this.#lease = lease
    this.#target = target
    if (!moved) return
    void this.#sender.close()
    this.#sender = this.#newSender()
  }

  /** What it has room for. */
  wanted(): Wanted | undefined {
    const firsts = this.#waiting.filter(({ first }) => first).length
    const repeats =
      this.#waiting.length - firsts + [...this.#inFlight.values()].filter(({ first }) => !first).length
    const first = firsts > WINDOW / 2 ? 0 : WINDOW - firsts
    const again = repeats > 0 ? 0 : SLOTS
    if (first === 0 && again === 0) return undefined
    return { lease: this.#lease, loaded: this.#loaded, first, again }
  }

  add(deliveries: readonly Delivery[]): void {
    this.#more = deliveries.length >= SLOTS
    for (const delivery of deliveries) {
      if (delivery.first && delivery.sequence > this.#loaded) this.#loaded = delivery.sequence
      this.#waiting.push(delivery)
    }
    this.pump()
  }

  pump(): void {
    const slots = this.#failures >= FAILURES_MAX ? 1 : SLOTS
    const open = !this.#closed && this.#tools.leased()
    const kept: Delivery[] = []
    // Objects whose first attempts wait in this pass: later events of the same objects must not overtake them.
    const held = new Set(this.#objects)
    let repeats = [...this.#inFlight.values()].filter(({ first }) => !first).length
    for (const delivery of this.#waiting) {
      const room = open && this.#inFlight.size < slots && !this.#inFlight.has(delivery.sequence)
      const fits = delivery.first
        ? !held.has(delivery.objectId)
        : repeats === 0 || this.#inFlight.size < slots / 2
      if (delivery.first) held.add(delivery.objectId)
      if (!room || !fits) {
        kept.push(delivery)
        continue
      }
      if (!delivery.first) repeats++
      void this.#deliver(delivery)
    }
    this.#waiting = kept
  }

  /** Starts nothing more and breaks off what is under way after `graceMs`; what was broken off will be repeated. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true
    this.#waiting = []
    for (const end = performance.now() + graceMs; this.#inFlight.size > 0 && performance.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 20))
    await this.#sender.close()
  }

  #newSender(): Sender {
    const { services, mayReach, names } = this.#tools
    const { tenantId } = this.#lease
    return new Sender(this.#target.url, {
      mayReach,
      timeoutMs: services.config.WEBHOOK_TIMEOUT_MS,
      connections: SLOTS,
      resolve: (hostname, signal) => names.resolve(tenantId, hostname, signal),
    })
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { eventId, first, objectId, sequence } = delivery
    const { config, log } = this.#tools.services
    const { modifiedAtMs } = this.#lease
    this.#inFlight.set(sequence, delivery)
    if (first) this.#objects.add(objectId)
    try {
      const sender = this.#sender
      const startedAt = new Date(this.#tools.now())
      const body = Buffer.from(JSON.stringify(eventToWire(delivery, config.BUSINESS_TIME_ZONE)))
      const signed = signedHeaders(
        eventId,
        startedAt,
        body,
        liveSecrets(this.#target, startedAt.getTime()),
        this.#tools.keys(),
      )
      const headers = {
        ...this.#target.headers,
        'user-agent': 'svc-webhooks/1',
        'content-type': 'application/json',
        ...signed,
      }
      const sent = await this.#send(delivery, sender, body, headers)
      // Broken off by us: it counts for nothing, and the row is still in the queue.
      if (sender.closed) return this.#giveBack(delivery)
      this.#failures = succeeded(sent) ? 0 : this.#failures + 1
      await this.#tools.writer.write({ ...this.#outcomeOf(delivery, sent, startedAt), modifiedAtMs })
    } catch (error) {
      log.error({ err: error, eventId }, 'a webhook could not be sent')
    } finally {
      this.#inFlight.delete(sequence)
      if (first) this.#objects.delete(objectId)
      this.pump()
      if (this.#more && this.#waiting.length < WINDOW / 4) {
        this.#more = false
        this.#tools.onRoom()
      }
    }
  }

  /** Sends, in the trace of the event while tracing is on. */
  async #send(
    { eventId, traceparent, type, attempts, tenantId }: Delivery,
    sender: Sender,
    body: Buffer,
    headers: Record<string, string>,
  ): Promise<Sent> {
    const { tracing } = this.#tools.services.database
    if (!tracing || traceparent === null) return sender.post(body, headers)
    const span = tracing.start('webhook delivery', {
      kind: 'client',
      remote: { traceparent },
      attributes: {
        'svc.event.id': eventId,
        'svc.event.type': type,
        'svc.tenant_id': tenantId,
        'svc.endpoint_id': this.#lease.endpointId,
        'http.request.method': 'POST',
        'http.request.resend_count': attempts,
      },
    })
    const sent = await sender.post(body, { ...headers, traceparent: span.traceparent })
    span.set({ 'http.response.status_code': sent.status })
    span.end(succeeded(sent) ? undefined : { code: String(sent.status ?? 'no_response') })
    return sent
  }

  #giveBack(delivery: Delivery): void {
    if (!this.#closed) this.#waiting.unshift(delivery)
  }

  #outcomeOf(
    { attempts, eventId, sequence, startedAt, tenantId, turn }: Delivery,
    sent: Sent,
    at: Date,
  ): Omit<Outcome, 'modifiedAtMs'> {
    const { random } = this.#tools.services
    const begunAt = startedAt ?? at
    const made = attempts + 1
    const gone = sent.status === 410
    const settled = succeeded(sent) || gone
    const next = settled
      ? undefined
      : nextAttemptMs({
          attempts: made,
          startedAtMs: begunAt.getTime(),
          nowMs: this.#tools.now(),
          retryAfter: sent.retryAfter,
          chance: Buffer.from(random(2)).readUInt16BE() / 65_536,
        })
    const attempt: Attempt = {
      attemptId: newId('wha', at.getTime(), random),
      tenantId,
      endpointId: this.#lease.endpointId,
      eventId,
      sequence,
      attempt: made,
      url: this.#target.url,
      startedAt: at,
      durationMs: sent.durationMs,
      status: sent.status ?? null,
      failure: failureOf(sent),
      responseExcerpt: sent.excerpt,
      nextAt: next === undefined ? null : new Date(next),
    }
    return { attempt, turn, startedAt: begunAt, settled, gone }
  }
}

const succeeded = ({ status }: Sent): boolean => status !== undefined && status >= 200 && status < 300

function failureOf(sent: Sent): string | null {
  if (sent.status === undefined) return sent.failure ?? 'no valid response'
  if (succeeded(sent)) return null
  if (sent.status === 410) return 'the endpoint is gone; it was disabled'
  return sent.status < 400 ? 'redirects are not followed' : 'the endpoint returned an error'
}
