import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Loop, type LoopTools } from '@svc/platform/loop'

const SAVE_EVERY_MS = 30_000
/** Credentials noted between two writes; those beyond it are noted by their next request. */
const NOTED_MAX = 100_000

interface Use {
  readonly tenantId: string
  readonly credentialId: string
  /** In `performance.now()` time: what is stored goes by the database's clock (decision X35). */
  readonly usedAtMs: number
}

const SAVE = statement(
  'credential_uses_save',
  `insert into credential_uses as u (tenant_id, credential_id, last_used_at)
   select tenant_id, credential_id, clock_timestamp() - ago_ms * interval '1 millisecond'
   from unnest($1::text[], $2::text[], $3::float8[]) as n (tenant_id, credential_id, ago_ms)
   order by 1, 2
   on conflict (tenant_id, credential_id)
     do update set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
)
const FIND = statement<{ credentialId: string; lastUsedAt: Date }>(
  'credential_uses_find',
  'select credential_id as "credentialId", last_used_at as "lastUsedAt" from credential_uses where tenant_id = $1',
)

/** When the credentials of a tenant were used last, by their ids. */
export async function lastUses(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, Date>> {
  const found = await tx.query(FIND, [tenantId])
  return new Map(found.map(({ credentialId, lastUsedAt }) => [credentialId, lastUsedAt]))
}

/**
 * Notes when a credential was used last, for people who want to revoke it (decision A15): in memory, and every half
 * minute in the database. What a process that is killed had not written yet is lost.
 */
export class CredentialUses {
  readonly #database: Database
  #noted = new Map<string, Use>()
  readonly loop: Loop

  constructor({ database, ...tools }: LoopTools & { readonly database: Database }) {
    this.#database = database
    const work = () => this.#save()
    this.loop = new Loop({ name: 'credential_uses', everyMs: SAVE_EVERY_MS, work, atStop: true }, tools)
  }

  note(tenantId: string, credentialId: string): void {
    if (this.#noted.size < NOTED_MAX || this.#noted.has(credentialId))
      this.#noted.set(credentialId, { tenantId, credentialId, usedAtMs: performance.now() })
  }

  async #save(): Promise<void> {
    const uses = [...this.#noted.values()]
    if (uses.length === 0) return
    this.#noted = new Map()
    const nowMs = performance.now()
    const columns = [
      uses.map(({ tenantId }) => tenantId),
      uses.map(({ credentialId }) => credentialId),
      uses.map(({ usedAtMs }) => nowMs - usedAtMs),
    ]
    await this.#database.writeAside(new Set(columns[0] as string[]), (tx) => tx.query(SAVE, columns))
  }
}
