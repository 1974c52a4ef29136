import { Readable } from 'node:stream'
import { fail } from '@svc/contract/errors'

/** Responses without bounds, so many at a time for each tenant (decision S3). */
export class StreamSlots {
  readonly #max: number
  readonly #running = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** @throws Failure `too_many_streams`, before anything is opened */
  stream(tenantId: string, open: () => AsyncGenerator<string> | Readable): Readable {
    const running = this.#running.get(tenantId) ?? 0
    if (running >= this.#max) fail('too_many_streams', { retryAfterSeconds: 1 })
    this.#running.set(tenantId, running + 1)
    const opened = open()
    const readable = opened instanceof Readable ? opened : Readable.from(opened, { objectMode: false })
    readable.once('close', () => {
      const left = this.#running.get(tenantId)! - 1
      if (left > 0) this.#running.set(tenantId, left)
      else this.#running.delete(tenantId)
    })
    return readable
  }
}
