import { newId } from '@svc/contract/id-kinds'
import { base32 } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import type { Secret } from '@svc/kernel/secret'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { generated, instant, nullable, type RowOf, stamped, table, text } from '@svc/platform/db/table'
import { account, openAccounts } from '../ledger/accounts.ts'
import { issueApiKey, type KeyMaker } from './api-key.ts'
import { insertTenant, setTenantDisabled } from './tenant.ts'

export const merchants = table('merchants', 'm', ['merchantId'], {
  merchantId: text,
  name: text,
  /** Virtual payment address to which its QR codes are paid. */
  vpa: text,
  /** Merchant category code, ISO 18245. */
  mcc: text,
  /** Public half of its credentials: names the merchant, authorises nothing (decision A6). */
  accessKey: text,
  /** The partner whose coin configurations it reads (decision K4). */
  linkedPartnerId: generated(nullable(text)),
  createdAt: stamped(instant),
})
export type Merchant = RowOf<typeof merchants> & { readonly disabledAt: Date | null }

const SELECT = `select ${merchants.columns}, t.disabled_at as "disabledAt"
  from merchants m join tenants t on t.tenant_id = m.merchant_id`
const LIST = statement<Merchant>('merchants_list', `${SELECT} order by m.merchant_id`)
const FIND = statement<Merchant>('merchant_find', `${SELECT} where m.merchant_id = $1`)

const CHANGE = statement(
  'merchant_change',
  `update merchants set name = coalesce($2, name), vpa = coalesce($3, vpa), mcc = coalesce($4, mcc)
   where merchant_id = $1`,
)
const LINK = statement('merchant_link', 'update merchants set linked_partner_id = $2 where merchant_id = $1')

export interface NewMerchant {
  readonly name: string
  readonly vpa: string
  readonly mcc: string
}

/** Registers a merchant with its ledger accounts. */
export async function registerMerchant(
  tx: Tx,
  { random }: Pick<KeyMaker, 'random'>,
  { name, vpa, mcc }: NewMerchant,
): Promise<Merchant> {
  const merchantId = newId('mer', Date.now(), random)
  const accessKey = `mak_${base32(random(15))}`
  insertTenant(tx, merchantId, 'merchant')
  merchants.insert(tx, [{ merchantId, name, vpa, mcc, accessKey }])
  // Each tenant has its own clearing account, so that no row is shared by all payments.
  const kinds = ['upi_clearing', 'bank', 'payable', 'upi_refunds', 'suspense'] as const
  openAccounts(
    tx,
    kinds.map((kind) => account(kind, merchantId)),
  )
  return required(await findMerchant(tx, merchantId), 'a new merchant is found')
}

/** Registers a merchant with a first API key, which is shown here and never again. */
export async function createMerchant(
  tx: Tx,
  maker: KeyMaker,
  wanted: NewMerchant,
): Promise<{ merchant: Merchant; apiKey: { apiKeyId: string; secret: Secret } }> {
  const merchant = await registerMerchant(tx, maker, wanted)
  return { merchant, apiKey: await issueApiKey(tx, maker, merchant.merchantId, 'first key') }
}

export const listMerchants = (tx: Tx): Promise<Merchant[]> => tx.query(LIST)

export async function findMerchant(tx: Tx, merchantId: string): Promise<Merchant | undefined> {
  const [merchant] = await tx.query(FIND, [merchantId])
  return merchant
}

/** Changes what QR codes of the merchant say from now on; those that are there keep theirs. `undefined` for an unknown merchant. */
export async function updateMerchant(
  tx: Tx,
  merchantId: string,
  { name, vpa, mcc }: Partial<NewMerchant>,
): Promise<Merchant | undefined> {
  await tx.query(CHANGE, [merchantId, name, vpa, mcc])
  return findMerchant(tx, merchantId)
}

/** Lets a merchant read the coin configurations of a partner; `null` ends that. `undefined` for an unknown merchant. */
export async function linkMerchant(
  tx: Tx,
  merchantId: string,
  partnerId: string | null,
): Promise<Merchant | undefined> {
  await tx.query(LINK, [merchantId, partnerId])
  return findMerchant(tx, merchantId)
}

/** A disabled merchant gets no tokens and its codes take no payments; enabling gives both back. */
export async function setMerchantDisabled(
  tx: Tx,
  merchantId: string,
  disabled: boolean,
): Promise<Merchant | undefined> {
  await setTenantDisabled(tx, merchantId, 'merchant', disabled)
  return findMerchant(tx, merchantId)
}
