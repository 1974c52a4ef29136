import { checkInvariants } from '@svc/console-api/invariants'
import { type Client, payloadOf } from './client.ts'
import { creditOf, newCode, notifyCredit } from './qr-codes.ts'
import { asSuperuser, RAIL_KEY, type TestService } from './service.ts'

export interface Shop {
  readonly merchantId: string
  readonly client: Client
  readonly paymentId: string
  readonly path: string
}

/** A merchant with one accepted payment. */
export async function shopWith(on: TestService, amount: number): Promise<Shop> {
  const { merchantId, client } = await newShop(on)
  const { tr } = await newCode(on, client, { multipleUse: true })
  const { paymentId } = payloadOf(await notifyCredit(on.client, creditOf(tr, { amount })))
  return { merchantId, client, paymentId, path: `/api/v0/payments/${paymentId}/refunds` }
}

export async function newShop(on: TestService) {
  const merchant = await on.newMerchant()
  return { merchantId: merchant.merchantId, vpa: merchant.vpa, client: await on.as(merchant) }
}

export const notifyRefund = (on: TestService, notice: object) =>
  on.client.notify('/rails/upi/refunds', notice, RAIL_KEY)
/** Accounts of a tenant by kind, without the empty ones. */
export const balancesOf = async (on: TestService, merchantId: string): Promise<Record<string, string>> =>
  asSuperuser(on.db.database, async (db) => {
    const { rows } = await db.query<{ kind: string; balance: string }>(
      'select kind, balance::text from ledger_accounts where tenant_id = $1 and balance <> 0',
      [merchantId],
    )
    return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]))
  })

/** Invariants that do not hold. */
export const brokenIn = async (on: TestService): Promise<string[]> =>
  (await checkInvariants(on.app.services.database)).flatMap(({ name, violations }) =>
    violations.length > 0 ? [name] : [],
  )
