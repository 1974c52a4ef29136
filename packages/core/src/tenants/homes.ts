import { fail } from '@svc/contract/errors'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { AWAY, type Away, onItsWay } from '@svc/platform/db/home'
import { statement } from '@svc/platform/db/statement'

interface Moved {
  readonly reference: string
  readonly tenantId: string
}

/** What names a tenant before it is known. */
export type MovedReference =
  | 'api_key'
  | 'client'
  | 'access_key'
  | 'tr'
  | 'vpa'
  | 'virtual_account'
  | 'card_token'
  | 'card_number'

const MOVED = statement<Moved>(
  'directory_moved',
  'select reference, tenant_id as "tenantId" from directory_moved($1, $2)',
)

/** The statement of a lookup whose rows name their tenant, with `away`: that its tenant may not be served here now. */
export const withAway = (lookup: string): string =>
  `select d.*, exists (select from tenants_away(array[d.tenant_id])) as away from ${lookup} d`

/** Which tenants are not served here now (decision X40): always as of the call, since nothing is read of two homes. */
export class Homes {
  readonly #away: BatchedLookup<Away>
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.#away = new BatchedLookup<Away>(
      (keys) => database.directory(AWAY, [keys.map(({ id }) => id)]),
      ({ tenantId }) => ({ tenantId: '', id: tenantId }),
    )
  }

  /** Throws `moved`, or `temporarily_unavailable` while the tenant moves. */
  async require(tenantId: string): Promise<void> {
    const away = await this.#away.get('', tenantId)
    if (!away) return
    if (away.home === null) throw onItsWay()
    fail('moved', { description: `The tenant is served by the cell ${away.home}` })
  }

  /**
   * To be called for a reference that names nothing here: throws `moved` if it named a tenant that lived here, and of what
   * may be of another cell in any case.
   */
  async requireNotMoved(what: MovedReference, reference: string, from: Origin = {}): Promise<void> {
    const [moved] = await this.#database.directory(MOVED, [what, [reference]])
    if (moved) await this.require(moved.tenantId)
    requireHere(from)
  }
}

/** Where a signed message comes from. */
export interface Origin {
  /** The other cells have not said yet that it is not theirs (decision X40). */
  readonly mayBeElsewhere?: boolean | undefined
}

/** To be called for a message that names nothing here. Throws `moved` if it may be of another cell. */
export function requireHere({ mayBeElsewhere }: Origin): void {
  if (mayBeElsewhere) fail('moved', { description: 'It names nothing of this cell' })
}
