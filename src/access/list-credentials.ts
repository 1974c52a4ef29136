import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'

interface ClientRow {
  client_id: string
  name: string
  created_at: Date
  revoked_at: Date | null
}

const CLIENTS = statement<ClientRow>(
  'oauth_clients_of_partner',
  'select client_id, name, created_at, revoked_at from oauth_clients where tenant_id = $1 order by client_id',
)

/** OAuth clients of a partner, without their secrets, which nobody has. */
export async function listOAuthClients(tx: Tx, partnerId: string) {
  return (await tx.query(CLIENTS, [partnerId])).map((row) => ({
    clientId: row.client_id,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  }))
}

interface SealKeyRow {
  kid: string
  kind: 'shared' | 'public'
  alg: string
  created_at: Date
  retired_at: Date | null
}

const SEAL_KEYS = statement<SealKeyRow>(
  'partner_seal_keys_list',
  'select kid, kind, alg, created_at, retired_at from partner_seal_keys where partner_id = $1 order by created_at, kid',
)

/** Seal keys of a partner, shared ones and registered ones, without what is in them. */
export async function listSealKeys(tx: Tx, partnerId: string) {
  return (await tx.query(SEAL_KEYS, [partnerId])).map(
    ({ kid, kind, alg, created_at: createdAt, retired_at: retiredAt }) => ({
      kid,
      kind,
      alg,
      createdAt,
      retiredAt,
    }),
  )
}
