import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Loop, type LoopTools } from '@svc/platform/loop'
import { LRUCache } from 'lru-cache'

const SAVE_EVERY_MS = 30_000
/** A credential makes the loop run at once, but not more often than this. */
const HASTE_EVERY_MS = 10_000
/** Credentials that are noted between two writes. */
const NOTED_MAX = 10_000

export interface Refusal {
  readonly address: string
  readonly refusedAt: Date
}

interface Noted {
  readonly tenantId: string
  readonly credentialId: string
  readonly address: string
  /** In `performance.now()` time: what is stored goes by the database's clock (decision X35). */
  readonly refusedAtMs: number
}

/** The same address again is no news for an hour, another one for five minutes: each write is an entry of the audit. */
const SAVE = statement(
  'credential_refusals_save',
  `insert into credential_refusals as r (tenant_id, credential_id, address, refused_at)
   select tenant_id, credential_id, address, clock_timestamp() - ago_ms * interval '1 millisecond'
   from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as n (tenant_id, credential_id, address, ago_ms)
   order by 1, 2
   on conflict (tenant_id, credential_id) do update set address = excluded.address, refused_at = excluded.refused_at
     where r.refused_at < excluded.refused_at
       - case when r.address = excluded.address then interval '1 hour' else interval '5 minutes' end`,
)
const LIST = statement<Refusal & { credentialId: string }>(
  'credential_refusals_list',
  `select credential_id as "credentialId", address, refused_at as "refusedAt"
   from credential_refusals where tenant_id = $1`,
)

/** The last refusal of each credential of a tenant, by its id. */
export async function lastRefusals(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, Refusal>> {
  const found = await tx.query(LIST, [tenantId])
  return new Map(found.map(({ credentialId, ...refusal }) => [credentialId, refusal]))
}

/**
 * Notes that a valid secret, or a token that was issued for it, came from an address that its credential does not allow
 * (decision A16): either the limits are wrong, or the secret has leaked.
 */
export class CredentialRefusals {
  readonly #database: Database
  #noted = new Map<string, Noted>()
  readonly #hasty = new LRUCache<string, true>({ max: NOTED_MAX, ttl: HASTE_EVERY_MS })
  readonly loop: Loop

  constructor({ database, ...tools }: LoopTools & { readonly database: Database }) {
    this.#database = database
    const work = () => this.#save()
    this.loop = new Loop({ name: 'credential_refusals', everyMs: SAVE_EVERY_MS, work, atStop: true }, tools)
  }

  note(tenantId: string, credentialId: string, address: string): void {
    if (this.#noted.size >= NOTED_MAX && !this.#noted.has(credentialId)) return
    this.#noted.set(credentialId, {
      tenantId,
      credentialId,
      address: address.slice(0, 64),
      refusedAtMs: performance.now(),
    })
    if (this.#hasty.has(credentialId)) return
    this.#hasty.set(credentialId, true)
    this.loop.wake()
  }

  async #save(): Promise<void> {
    const noted = [...this.#noted.values()]
    if (noted.length === 0) return
    this.#noted = new Map()
    const nowMs = performance.now()
    await this.#database.writeAside(new Set(noted.map(({ tenantId }) => tenantId)), (tx) =>
      tx.query(SAVE, [
        noted.map(({ tenantId }) => tenantId),
        noted.map(({ credentialId }) => credentialId),
        noted.map(({ address }) => address),
        noted.map(({ refusedAtMs }) => nowMs - refusedAtMs),
      ]),
    )
  }
}
