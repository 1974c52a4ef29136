import { recordActs } from '@svc/platform/audit'
import type { Services } from '@svc/server/http/operation'
import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Failures that are audited of one member in an hour; the audit is kept for good, so a flood of them is bounded. */
const ENTRIES_PER_HOUR = 20

export interface FailedSignIn {
  readonly tenantId: string
  readonly memberId: string
  readonly name: string
  readonly address: string
  readonly requestId: string
  /** What was wrong where it was not the password. */
  readonly reason?: string
}

/** Audits wrong passwords and codes of members, each in the chain of the tenant (decision O3). */
export class FailedMemberSignIns {
  readonly #database: Services['database']
  readonly #ofMember = new RateLimiterMemory({ points: ENTRIES_PER_HOUR, duration: 3_600 })

  constructor({ database }: Pick<Services, 'database'>) {
    this.#database = database
  }

  async record({ tenantId, memberId, name, address, requestId, reason }: FailedSignIn): Promise<void> {
    if (!(await this.#mayEnter(memberId))) return
    const act = { action: 'member.sign_in_failed', target: memberId, member: name, tenantId, requestId }
    await this.#database.write([tenantId], async (tx) =>
      recordActs(tx, [{ ...act, details: { address, ...(reason && { reason }) } }]),
    )
  }

  async #mayEnter(memberId: string): Promise<boolean> {
    try {
      await this.#ofMember.consume(memberId)
      return true
    } catch (refused) {
      if (refused instanceof Error) throw refused
      return false
    }
  }
}
