import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { LRUCache } from 'lru-cache'
import type { LiveToken } from './access-token.ts'
import { type LimitsRow, type LiveLimits, limitsOf, liveLimits, UNLIMITED } from './credential-limits.ts'
import type { Revocations } from './revocations.ts'

const CREDENTIALS_CACHED = 10_000

interface Row extends LimitsRow {
  readonly tenantId: string
  readonly credentialId: string
}

const FIND = statement<Row>(
  'credential_limits_find',
  `select tenant_id as "tenantId", credential_id as "credentialId", addresses, scopes from credential_limits
   where (tenant_id, credential_id) in (select * from unnest($1::text[], $2::text[]))`,
)

interface Known {
  readonly revision: number
  readonly limits: LiveLimits
}

/**
 * Limits of the credentials with whose tokens callers come (decision A16). A token names the revision of the limits with
 * which it was issued, and the list of changes a newer one, so that only a revision that this process has not seen yet
 * is read from the database; a credential without limits never is.
 */
export class LimitsInForce {
  readonly #revocations: Revocations
  readonly #lookup: BatchedLookup<Row>
  readonly #known = new LRUCache<string, Known>({ max: CREDENTIALS_CACHED })

  constructor(database: Database, revocations: Revocations) {
    this.#revocations = revocations
    this.#lookup = new BatchedLookup<Row>(
      (keys) => {
        const tenants = keys.map(({ tenantId }) => tenantId)
        return database.read(tenants, (tx) => tx.query(FIND, [tenants, keys.map(({ id }) => id)]))
      },
      ({ tenantId, credentialId: id }) => ({ tenantId, id }),
    )
  }

  #revisionOf({ credentialId, limitsRevision }: LiveToken): number {
    const listed = this.#revocations.revisionOf(credentialId)
    // A token of a version that knew no limits names no revision: what it may do is always looked up.
    return limitsRevision === undefined ? Math.max(listed, 1) : Math.max(listed, limitsRevision)
  }

  /** Where they are known without the database. */
  known(token: LiveToken): LiveLimits | undefined {
    const revision = this.#revisionOf(token)
    if (revision === 0) return UNLIMITED
    const known = this.#known.get(token.credentialId)
    return known && known.revision >= revision ? known.limits : undefined
  }

  /** As of the last time that the revocations were read. */
  async of(token: LiveToken): Promise<LiveLimits> {
    const known = this.known(token)
    if (known) return known
    const { tenantId, credentialId } = token
    const revision = this.#revisionOf(token)
    const row = await this.#lookup.get(tenantId, credentialId)
    const limits = row ? liveLimits(limitsOf(row)) : UNLIMITED
    this.#known.set(credentialId, { revision, limits })
    return limits
  }
}
