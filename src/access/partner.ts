import { base32, newId } from '../kernel/ids.ts'
import { Secret } from '../kernel/secret.ts'
import { account, openAccounts } from '../ledger/accounts.ts'
import type { Keyring } from '../platform/crypto/keyring.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import type { KeyMaker } from './api-key.ts'
import { insertTenant } from './tenant.ts'

export const PRODUCTS = ['incentive', 'employee_rewards'] as const
export type Product = (typeof PRODUCTS)[number]

export interface Partner {
  readonly partnerId: string
  readonly name: string
  /** Which record its searches answer (decision S1). */
  readonly products: readonly Product[]
  /** Sandbox only (decision C2): its requests need not be sealed. */
  readonly plainRequests: boolean
  readonly createdAt: Date
  readonly disabledAt: Date | null
}

interface PartnerRow {
  partner_id: string
  name: string
  products: Product[]
  plain_requests: boolean
  created_at: Date
  disabled_at: Date | null
}

const toPartner = (row: PartnerRow): Partner => ({
  partnerId: row.partner_id,
  name: row.name,
  products: row.products,
  plainRequests: row.plain_requests,
  createdAt: row.created_at,
  disabledAt: row.disabled_at,
})

const INSERT = statement(
  'partner_insert',
  `insert into partners (partner_id, name, products, plain_requests, created_at) values ($1, $2, $3, $4, clock_timestamp())`,
)
const SELECT = `select partner_id, name, products, plain_requests, p.created_at, t.disabled_at
  from partners p join tenants t on t.tenant_id = p.partner_id`
const LIST = statement<PartnerRow>('partners_list', `${SELECT} order by partner_id`)
const FIND = statement<PartnerRow>('partner_find', `${SELECT} where partner_id = $1`)
const INSERT_CLIENT = statement(
  'oauth_client_insert',
  `insert into oauth_clients (client_id, tenant_id, name, secret_digest, created_at) values ($1, $2, $3, $4, clock_timestamp())`,
)
const REVOKE_CLIENT = statement<{ client_id: string; tenant_id: string; revoked_at: Date }>(
  'oauth_client_revoke',
  `update oauth_clients set revoked_at = coalesce(revoked_at, clock_timestamp()) where client_id = $1
   returning client_id, tenant_id, revoked_at`,
)

export interface NewPartner {
  readonly name: string
  readonly products: readonly Product[]
  readonly plainRequests?: boolean
}

export interface OAuthClient {
  readonly clientId: string
  /** Shown when it is issued and never again. */
  readonly clientSecret: Secret
}

/** Registers a partner with its ledger accounts and a first OAuth client. */
export async function createPartner(
  tx: Tx,
  maker: KeyMaker,
  { name, products, plainRequests = false }: NewPartner,
): Promise<{ partner: Partner; client: OAuthClient }> {
  const partnerId = newId('par', Date.now(), maker.random)
  await insertTenant(tx, partnerId, 'partner')
  await tx.query(INSERT, [partnerId, name, products, plainRequests])
  openAccounts(tx, [account('funding_clearing', partnerId), account('card_settlement', partnerId)])
  const client = await issueOAuthClient(tx, maker, partnerId, 'first client')
  return { partner: (await findPartner(tx, partnerId))!, client }
}

export async function issueOAuthClient(
  tx: Tx,
  maker: KeyMaker,
  partnerId: string,
  name: string,
): Promise<OAuthClient> {
  const clientId = newId('cli', Date.now(), maker.random)
  const clientSecret = new Secret(`svc_secret_${base32(maker.random(25))}`)
  await tx.query(INSERT_CLIENT, [
    clientId,
    partnerId,
    name,
    secretDigest(maker.keyring, clientId, clientSecret.reveal()),
  ])
  return { clientId, clientSecret }
}

/** Keyed, and bound to its client, so that equal secrets of two clients would not show. */
export const secretDigest = (keyring: Keyring, clientId: string, secret: string): Buffer =>
  keyring.digest('api_key_digest', `${clientId} ${secret}`)

export async function revokeOAuthClient(tx: Tx, clientId: string) {
  const [row] = await tx.query(REVOKE_CLIENT, [clientId])
  return row && { clientId: row.client_id, partnerId: row.tenant_id, revokedAt: row.revoked_at }
}

export const listPartners = async (tx: Tx): Promise<Partner[]> => (await tx.query(LIST)).map(toPartner)

export async function findPartner(tx: Tx, partnerId: string): Promise<Partner | undefined> {
  const [row] = await tx.query(FIND, [partnerId])
  return row && toPartner(row)
}
