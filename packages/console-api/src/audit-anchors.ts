import { type Anchor, anchorText } from '@svc/platform/audit-chain'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { Services } from '@svc/server/http/operation'

const EVERY_MS = 300_000
const ANCHOR = statement<{ number: bigint; hash: Buffer }>('audit_anchor', 'select * from anchor_audit()')

/**
 * Anchors the tenants' audit chains in the installation's, and logs its end, from time to time and when the process ends
 * (decision O3): entries that are cut off the end leave the rest whole, and only a copy elsewhere shows that they are
 * missing.
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
    // Durable before it is logged: an anchor that a crash undoes would prove that entries were cut off.
    const [head] = await database.write([], (tx) => tx.query(ANCHOR), 'silence')
    if (!head || Number(head.number) === this.#last?.number) return
    this.#last = { number: Number(head.number), hash: head.hash.toString('hex') }
    log.info({ anchor: anchorText(this.#last) }, 'audit anchor')
  }
}
