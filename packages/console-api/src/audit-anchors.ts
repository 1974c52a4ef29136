import { type Anchor, anchorText } from '@svc/platform/audit-chain'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { Services } from '@svc/server/http/operation'

const EVERY_MS = 300_000
const HEAD = statement<{ sequence: bigint; hash: Buffer }>('audit_anchor', 'select * from audit_head()')

/**
 * Logs the end of the audit chain from time to time, and when the process ends (decision O3): entries that are cut off
 * the end leave the rest whole, and only a copy elsewhere shows that they are missing.
 */
export class AuditAnchors {
  readonly #services: Services
  #last: Anchor | undefined
  readonly loop: Loop

  constructor(services: Services) {
    this.#services = services
    const work = () => this.#write()
    this.loop = new Loop({ name: 'audit_anchors', everyMs: EVERY_MS, work, atStop: true }, services)
  }

  async #write(): Promise<void> {
    const { database, log } = this.#services
    const [head] = await database.writeAside([], (tx) => tx.query(HEAD))
    if (!head || Number(head.sequence) === this.#last?.sequence) return
    this.#last = { sequence: Number(head.sequence), hash: head.hash.toString('hex') }
    log.info({ anchor: anchorText(this.#last) }, 'audit anchor')
  }
}
