import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { partnerJweKeys } from './jwe-keys.ts'
import { oauthClients } from './partner.ts'

const CLIENTS = statement<RowOf<typeof oauthClients>>(
  'oauth_clients_of_partner',
  `select ${oauthClients.columns} from oauth_clients c where c.tenant_id = $1 order by c.client_id`,
)
const JWE_KEYS = statement<RowOf<typeof partnerJweKeys>>(
  'partner_encryption_keys_list',
  `select ${partnerJweKeys.columns} from partner_encryption_keys k where k.partner_id = $1 order by k.created_at, k.kid`,
)

/** OAuth clients of a partner, without their secrets: only digests of them are stored. */
export const listOAuthClients = async (tx: Tx, partnerId: string) =>
  (await tx.query(CLIENTS, [partnerId])).map(({ clientId, name, createdAt, revokedAt }) => ({
    clientId,
    name,
    createdAt,
    revokedAt,
  }))

/** Encryption keys of a partner, shared ones and registered ones, without their key material. */
export const listJweKeys = async (tx: Tx, partnerId: string) =>
  (await tx.query(JWE_KEYS, [partnerId])).map(({ kid, kind, alg, createdAt, retiredAt }) => ({
    kid,
    kind,
    alg,
    createdAt,
    retiredAt,
  }))
