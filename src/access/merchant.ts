import { base32, newId } from '../kernel/ids.ts'
import type { Secret } from '../kernel/secret.ts'
import { account, openAccounts } from '../ledger/accounts.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { issueApiKey, type KeyMaker } from './api-key.ts'
import { insertTenant, setTenantDisabled } from './tenant.ts'

export interface Merchant {
  readonly merchantId: string
  readonly name: string
  /** Virtual payment address to which its QR codes are paid. */
  readonly vpa: string
  /** Merchant category code, ISO 18245. */
  readonly mcc: string
  /** Public half of its credentials: names the merchant, authorises nothing (decision A6). */
  readonly accessKey: string
  readonly createdAt: Date
  readonly disabledAt: Date | null
}

interface MerchantRow {
  merchant_id: string
  name: string
  vpa: string
  mcc: string
  access_key: string
  created_at: Date
  disabled_at: Date | null
}

const toMerchant = (row: MerchantRow): Merchant => ({
  merchantId: row.merchant_id,
  name: row.name,
  vpa: row.vpa,
  mcc: row.mcc,
  accessKey: row.access_key,
  createdAt: row.created_at,
  disabledAt: row.disabled_at,
})

const INSERT = statement(
  'merchant_insert',
  `insert into merchants (merchant_id, name, vpa, mcc, access_key, created_at) values ($1, $2, $3, $4, $5, clock_timestamp())`,
)
const SELECT = `select merchant_id, name, vpa, mcc, access_key, m.created_at, t.disabled_at
  from merchants m join tenants t on t.tenant_id = m.merchant_id`
const LIST = statement<MerchantRow>('merchants_list', `${SELECT} order by merchant_id`)
const FIND = statement<MerchantRow>('merchant_find', `${SELECT} where merchant_id = $1`)

export interface NewMerchant {
  readonly name: string
  readonly vpa: string
  readonly mcc: string
}

/** Registers a merchant with its ledger accounts and a first API key, which is shown here and never again. */
export async function createMerchant(
  tx: Tx,
  maker: KeyMaker,
  { name, vpa, mcc }: NewMerchant,
): Promise<{ merchant: Merchant; apiKey: { apiKeyId: string; secret: Secret } }> {
  const merchantId = newId('mer', Date.now(), maker.random)
  const accessKey = `mak_${base32(maker.random(15))}`
  await insertTenant(tx, merchantId, 'merchant')
  await tx.query(INSERT, [merchantId, name, vpa, mcc, accessKey])
  // Each tenant has its own clearing account, so that no row is shared by all payments.
  const kinds = ['upi_clearing', 'payable', 'upi_refunds'] as const
  openAccounts(
    tx,
    kinds.map((kind) => account(kind, merchantId)),
  )
  const apiKey = await issueApiKey(tx, maker, merchantId, 'first key')
  const merchant = await findMerchant(tx, merchantId)
  return { merchant: merchant!, apiKey }
}

export const listMerchants = async (tx: Tx): Promise<Merchant[]> => (await tx.query(LIST)).map(toMerchant)

export async function findMerchant(tx: Tx, merchantId: string): Promise<Merchant | undefined> {
  const [row] = await tx.query(FIND, [merchantId])
  return row && toMerchant(row)
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
