import { newId } from '@svc/contract/id-kinds'
import { base32 } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import type { Secret } from '@svc/kernel/secret'
import { sqlConstraint, type Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { generated, instant, nullable, type RowOf, stamped, table, text } from '@svc/platform/db/table'
import { account, openAccounts } from '../ledger/accounts.ts'
import { issueApiKey, type KeyMaker } from './api-key.ts'
import { insertTenant, setTenantDisabled } from './tenant.ts'
import { announce } from './tenant-events.ts'

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
  /** The address that takes the place of `vpa` (decision O8), and when. */
  nextVpa: generated(nullable(text)),
  nextVpaFrom: generated(nullable(instant)),
  createdAt: stamped(instant),
})
export type Merchant = RowOf<typeof merchants> & { readonly disabledAt: Date | null }

const SELECT = `select ${merchants.columns}, t.disabled_at as "disabledAt"
  from merchants m join tenants t on t.tenant_id = m.merchant_id`
const LIST = statement<Merchant>('merchants_list', `${SELECT} order by m.merchant_id`)
const FIND = statement<Merchant>('merchant_find', `${SELECT} where m.merchant_id = $1`)

const CHANGE = statement(
  'merchant_change',
  `update merchants set name = coalesce($2, name), mcc = coalesce($4, mcc),
     next_vpa = case when $3::text is null then next_vpa when $3 = vpa then null else $3 end
   where merchant_id = $1`,
)
// Only what has waited: the database refuses any other (decision O8).
const MOVE = statement<Merchant>(
  'merchant_move_address',
  `update merchants m set vpa = m.next_vpa from tenants t
   where t.tenant_id = m.merchant_id and ($1::text is null or m.merchant_id = $1) and m.next_vpa is not null
     and m.next_vpa_from <= clock_timestamp() and may_act(m.next_vpa_by, 'operations')
     and not exists (select from merchants o where o.vpa = m.next_vpa and o.merchant_id <> m.merchant_id)
   returning ${merchants.columns}, t.disabled_at as "disabledAt"`,
)
const LINK = statement('merchant_link', 'update merchants set linked_partner_id = $2 where merchant_id = $1')

const WITHDRAW = statement<Merchant>(
  'merchant_withdraw_address',
  `update merchants m set next_vpa = null from tenants t
   where t.tenant_id = m.merchant_id and (m.merchant_id = $1 or m.next_vpa_by = $2) and m.next_vpa is not null
   returning ${merchants.columns}, t.disabled_at as "disabledAt"`,
)

const ONE_ADDRESS: ReadonlySet<string | undefined> = new Set([
  'addresses_are_apart',
  'next_addresses_are_apart',
  'merchants_vpa_key',
  'merchants_by_next_vpa',
])
export const ADDRESS_TAKEN = 'another merchant has this payment address, waits for it or had it before'
/** Whether the database refused a payment address because of `ADDRESS_TAKEN` (decision O8). */
export const isAddressTaken = (error: unknown): boolean => ONE_ADDRESS.has(sqlConstraint(error))

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
  const kinds = [
    'upi_clearing',
    'bank',
    'payable',
    'upi_refunds',
    'suspense',
    'accrued_fees',
    'fee_income',
    'output_cgst',
    'output_sgst',
    'output_igst',
  ] as const
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

/** Notifies a merchant of what changed. */
const announceMerchant = (tx: Tx, merchant: Merchant, ...changed: readonly string[]): void => {
  const { merchantId, name, vpa, mcc, nextVpa, nextVpaFrom } = merchant
  const next = nextVpaFrom ? { nextVpa, nextVpaOn: nextVpaFrom.toISOString() } : {}
  announce(tx, merchantId, 'merchant.updated', merchantId, { merchantId, changed, name, vpa, mcc, ...next })
}

/**
 * Changes what QR codes of the merchant say; those that are there keep theirs. Name and category hold at once. A new
 * address waits, and the present one as the new one takes back what waits (decision O8). `undefined` for an unknown
 * merchant. The database refuses an address that another merchant has, waits for or had.
 */
export async function updateMerchant(
  tx: Tx,
  merchantId: string,
  { name, vpa, mcc }: Partial<NewMerchant>,
): Promise<Merchant | undefined> {
  const before = await findMerchant(tx, merchantId)
  if (!before) return undefined
  await tx.query(CHANGE, [merchantId, name, vpa, mcc])
  await tx.query(MOVE, [merchantId])
  const after = required(await findMerchant(tx, merchantId), 'the merchant is there')
  const changed = [
    ...(after.name !== before.name || after.mcc !== before.mcc ? ['details'] : []),
    ...(after.vpa !== before.vpa ? ['paymentAddress'] : []),
    ...(after.nextVpa !== null && after.nextVpa !== before.nextVpa ? ['paymentAddressRequested'] : []),
    ...(after.nextVpa === null && before.nextVpa !== null && after.vpa === before.vpa
      ? ['paymentAddressWithdrawn']
      : []),
  ]
  if (changed.length > 0) announceMerchant(tx, after, ...changed)
  return after
}

/** Takes back the address that waits, if one does. */
export const withdrawAddress = (tx: Tx, merchantId: string): Promise<void> => withdraw(tx, merchantId, null)

/** Takes back the addresses that wait and that an operator, as the audit names them, has entered. */
export const withdrawAddressesOf = (tx: Tx, by: string): Promise<void> => withdraw(tx, null, by)

async function withdraw(
  tx: Tx,
  ...of: readonly [merchantId: string | null, by: string | null]
): Promise<void> {
  for (const merchant of await tx.query(WITHDRAW, [...of]))
    announceMerchant(tx, merchant, 'paymentAddressWithdrawn')
}

/** Addresses whose waiting time is over take the place of the previous ones; returns of how many merchants. */
export async function moveDueAddresses(tx: Tx): Promise<number> {
  const moved = await tx.query(MOVE, [null])
  for (const merchant of moved) announceMerchant(tx, merchant, 'paymentAddress')
  return moved.length
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
