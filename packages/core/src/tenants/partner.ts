import { inCell, newId } from '@svc/contract/id-kinds'
import { base32 } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import { Secret } from '@svc/kernel/secret'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  bytes,
  flag,
  generated,
  instant,
  nullable,
  type RowOf,
  secret,
  stamped,
  table,
  text,
  texts,
} from '@svc/platform/db/table'
import { account, openAccounts } from '../ledger/accounts.ts'
import type { KeyMaker } from './api-key.ts'
import { insertTenant, requireOpenTenant } from './tenant.ts'
import { announce } from './tenant-events.ts'

export const PRODUCTS = ['incentive', 'employee_rewards'] as const
export type Product = (typeof PRODUCTS)[number]

export const partners = table('partners', 'p', ['partnerId'], {
  partnerId: text,
  name: text,
  /** Which record its searches return (decision S1). */
  products: texts<Product>(),
  /** Sandbox only (decision C2): its requests need not be encrypted. */
  plainRequests: flag,
  createdAt: stamped(instant),
})
export type Partner = RowOf<typeof partners> & { readonly disabledAt: Date | null }

export const oauthClients = table('oauth_clients', 'c', ['tenantId', 'clientId'], {
  clientId: text,
  tenantId: text,
  name: text,
  secretDigest: secret(bytes),
  createdAt: stamped(instant),
  expiresAt: generated(nullable(instant)),
  revokedAt: generated(nullable(instant)),
})

const SELECT = `select ${partners.columns}, t.disabled_at as "disabledAt"
  from partners p join tenants t on t.tenant_id = p.partner_id`
const LIST = statement<Partner>('partners_list', `${SELECT} order by p.partner_id`)
const FIND = statement<Partner>('partner_find', `${SELECT} where p.partner_id = $1`)
interface RevokedClient {
  readonly clientId: string
  readonly partnerId: string
  readonly revokedAt: Date
}
const REVOKE_CLIENT = statement<RevokedClient & { newly: boolean }>(
  'oauth_client_revoke',
  `with previous as (select revoked_at as formerly from oauth_clients where client_id = $1 for no key update)
   update oauth_clients set revoked_at = coalesce(revoked_at, clock_timestamp()) from previous where client_id = $1
   returning client_id as "clientId", tenant_id as "partnerId", revoked_at as "revokedAt", formerly is null as newly`,
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

/** Registers a partner with its ledger accounts, without credentials: a hand-over issues them (decision O8). */
export async function registerPartner(
  tx: Tx,
  { random }: KeyMaker,
  { name, products, plainRequests = false }: NewPartner,
): Promise<Partner> {
  const partnerId = newId('par', Date.now(), random)
  insertTenant(tx, partnerId, 'partner')
  partners.insert(tx, [{ partnerId, name, products, plainRequests }])
  const kinds = ['funding_clearing', 'card_settlement', 'card_exceptions', 'unclaimed', 'ppi_bank'] as const
  openAccounts(
    tx,
    kinds.map((kind) => account(kind, partnerId)),
  )
  return required(await findPartner(tx, partnerId), 'a new partner is found')
}

/** Registers a partner with a first OAuth client. */
export async function createPartner(
  tx: Tx,
  maker: KeyMaker,
  wanted: NewPartner,
): Promise<{ partner: Partner; client: OAuthClient }> {
  const partner = await registerPartner(tx, maker, wanted)
  return { partner, client: await issueOAuthClient(tx, maker, partner.partnerId, 'first client') }
}

export async function issueOAuthClient(
  tx: Tx,
  maker: KeyMaker,
  partnerId: string,
  name: string,
): Promise<OAuthClient> {
  await requireOpenTenant(tx, partnerId)
  const clientId = newId('cli', Date.now(), maker.random).replace('_', `_${inCell(maker.keyring.home.cell)}`)
  const clientSecret = new Secret(`svc_secret_${base32(maker.random(25))}`)
  const digest = secretDigest(maker.keyring, clientId, clientSecret.reveal())
  oauthClients.insert(tx, [{ clientId, tenantId: partnerId, name, secretDigest: digest }])
  return { clientId, clientSecret }
}

/** Keyed, and bound to its client, so that equal secrets of two clients would not show. */
export const secretDigest = (keyring: Keyring, clientId: string, secret: string): Buffer =>
  keyring.digest('api_key_digest', `${clientId} ${secret}`)

export async function revokeOAuthClient(tx: Tx, clientId: string): Promise<RevokedClient | undefined> {
  const [found] = await tx.query(REVOKE_CLIENT, [clientId])
  if (!found) return undefined
  const { newly, ...revoked } = found
  if (newly) announce(tx, revoked.partnerId, 'credential.revoked', clientId, { credentialId: clientId })
  return revoked
}

export const listPartners = (tx: Tx): Promise<Partner[]> => tx.query(LIST)

export async function findPartner(tx: Tx, partnerId: string): Promise<Partner | undefined> {
  const [partner] = await tx.query(FIND, [partnerId])
  return partner
}
