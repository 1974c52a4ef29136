import { createHash } from 'node:crypto'
import { readInstant } from '@svc/kernel/read-time'
import { valueIn } from '@svc/kernel/reading'
import { signatureElements } from '@svc/kernel/signature-bytes'
import type { Services } from './operation.ts'

const KEPT_MAX = 256
/** However many are sent, they do not fill the log. */
const LOG_EVERY_MS = 1_000

/** A notice whose signature is wrong. It may be our key that is wrong, so it must be found again. */
interface RejectedNotice {
  readonly at: string
  /** SHA-256 of the body, to compare with what the bank says it sent. */
  readonly bodySha256: string
  /** The signature's own time, if it has the form of one. */
  readonly signedAt: string | undefined
  readonly keysTried: number
}

/** The last notices with a wrong signature: a bounded ring, written to the log, with a metric to alert on. */
export class RejectedNotices {
  readonly #services: Pick<Services, 'clock' | 'log' | 'metrics'>
  readonly #ring: RejectedNotice[] = []
  #loggedAtMs = Number.NEGATIVE_INFINITY

  constructor(services: Pick<Services, 'clock' | 'log' | 'metrics'>) {
    this.#services = services
  }

  add(body: Uint8Array, signature: unknown, keysTried: number): void {
    const { clock, log, metrics } = this.#services
    metrics.railSignaturesRejected.inc()
    const nowMs = clock.now()
    const time = typeof signature === 'string' ? signatureElements(signature).get('t')?.[0] : undefined
    const signedAt = time === undefined ? undefined : valueIn(readInstant(time))
    this.#ring.push({
      at: new Date(nowMs).toISOString(),
      bodySha256: createHash('sha256').update(body).digest('hex'),
      signedAt: signedAt?.toISOString(),
      keysTried,
    })
    if (this.#ring.length > KEPT_MAX) this.#ring.shift()
    if (Math.abs(nowMs - this.#loggedAtMs) < LOG_EVERY_MS) return
    this.#loggedAtMs = nowMs
    log.warn({ rejected: this.#ring.splice(0) }, 'notices of the rail have a wrong signature')
  }
}
