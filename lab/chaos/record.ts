import { createHash } from 'node:crypto'
import type { HttpResponse, Intent } from './caller.ts'
import { type Anomaly, findAnomaly, type Model, type Operation } from './history.ts'

/** What was acknowledged, by the thing that it made. */
export type Kind = 'QR code' | 'payment' | 'gift card' | 'coin award' | 'coin redemption'

export const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

interface Replayable {
  readonly intent: Intent
  readonly digest: string
}

/** All that callers were told, kept outside of the service: what the service is held against at the end. */
export class Record {
  /** Ids of the things, and how often each was made known by an intent of its own. */
  readonly acknowledged = new Map<Kind, Map<string, number>>()
  readonly replayable: Replayable[] = []
  /** Answers that no caller should get, in words. */
  readonly surprises = new Map<string, number>()
  readonly #histories = new Map<
    string,
    { model: Model<unknown, unknown>; operations: Operation<unknown>[] }
  >()
  operations = 0
  /** Acknowledged writes that were sent once more while faults went on. */
  repeats = 0
  /** When a write was last acknowledged (`performance.now()` time). */
  keptAtMs = performance.now()
  /** Longest time without an acknowledged write, since it was last set to 0. */
  longestPauseMs = 0

  readonly #paused = new Map<string, { atMs: number; longestMs: number }>()

  /** Longest time in which callers of a tenant got no acknowledged write, since `forgetPauses`; one that lasts counts. */
  longestPauseOf(tenantId: string): number {
    const paused = this.#paused.get(tenantId)
    return paused ? Math.max(paused.longestMs, performance.now() - paused.atMs) : 0
  }

  forgetPauses(): void {
    this.#paused.clear()
  }

  #note(tenantId: string, nowMs: number): void {
    const { atMs = nowMs, longestMs = 0 } = this.#paused.get(tenantId) ?? {}
    this.#paused.set(tenantId, { atMs: nowMs, longestMs: Math.max(longestMs, nowMs - atMs) })
  }

  acknowledge(kind: Kind, id: string): void {
    const ids = this.acknowledged.get(kind) ?? new Map<string, number>()
    this.acknowledged.set(kind, ids.set(id, (ids.get(id) ?? 0) + 1))
  }

  /** An answer that must come again, byte for byte, whenever its request is repeated. */
  keep(intent: Intent, response: HttpResponse): void {
    const nowMs = performance.now()
    this.longestPauseMs = Math.max(this.longestPauseMs, nowMs - this.keptAtMs)
    this.keptAtMs = nowMs
    if (intent.as) this.#note(intent.as.tenantId, nowMs)
    this.replayable.push({ intent, digest: digest(`${response.status} ${response.text}`) })
  }

  surprise(what: string): void {
    this.surprises.set(what, (this.surprises.get(what) ?? 0) + 1)
  }

  observe<State, Op>(
    object: string,
    model: Model<State, Op>,
    { startMs, endMs }: HttpResponse,
    op: Op,
  ): void {
    const known = this.#histories.get(object)
    const history = known ?? { model: model as Model<unknown, unknown>, operations: [] }
    if (!known) this.#histories.set(object, history)
    history.operations.push({ startMs, endMs, op })
    this.operations++
  }

  get objects(): number {
    return this.#histories.size
  }

  /** Objects whose history no serial order explains (promise E6). */
  anomalies(): { object: string; anomaly: Anomaly<unknown> }[] {
    return [...this.#histories].flatMap(([object, { model, operations }]) => {
      const anomaly = findAnomaly(model, operations)
      return anomaly ? [{ object, anomaly }] : []
    })
  }
}
