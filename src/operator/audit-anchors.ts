import { type Anchor, anchorText } from '../platform/audit-chain.ts'
import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'

const EVERY_MS = 300_000
const HEAD = statement<{ sequence: bigint; hash: Buffer }>('audit_anchor', 'select * from audit_head()')

/**
 * Writes the end of the audit chain to the log from time to time (decision O3): what is cut off the end leaves the rest
 * whole, and only a copy elsewhere tells.
 */
export class AuditAnchors {
  readonly #services: Services
  #last: Anchor | undefined
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(services: Services) {
    this.#services = services
  }

  start(): void {
    this.#timer = setInterval(() => this.#next(), EVERY_MS)
    this.#timer.unref()
  }

  /** The last word of a process is where the chain ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#timer) this.#next()
    await this.#writing
  }

  #next(): void {
    const { log } = this.#services
    this.#writing = this.#writing
      .then(() => this.write())
      .catch((error: unknown) => log.warn({ err: error }, 'the audit anchor could not be read'))
  }

  async write(): Promise<void> {
    const { database, log } = this.#services
    const [head] = await database.writeAside([], (tx) => tx.query(HEAD))
    if (!head || Number(head.sequence) === this.#last?.sequence) return
    this.#last = { sequence: Number(head.sequence), hash: head.hash.toString('hex') }
    log.info({ anchor: anchorText(this.#last) }, 'audit anchor')
  }
}
