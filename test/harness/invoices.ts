import { newId } from '@svc/contract/id-kinds'
import { issueInvoices } from '@svc/core/payments/issue-invoices'
import { payloadOf } from './client.ts'
import { giveAccount, giveFee } from './payouts.ts'
import { creditOf, newCode, notifyCredit } from './qr-codes.ts'
import { asSuperuser, type TestService } from './service.ts'

/** Settings of an installation that issues invoices. */
export const SUPPLIER = {
  GST_STATE: '29',
  SUPPLIER_NAME: 'Example Payments Private Limited',
  SUPPLIER_ADDRESS: '1 MG Road, Bengaluru',
  SUPPLIER_GSTIN: '29AAGCB7383J1Z4',
}

export interface Billed {
  readonly merchantId: string
  readonly tr: string
}

/** A merchant of a state with a fee and a code that is paid many times. */
export async function newBilled(on: TestService, gstState: string): Promise<Billed> {
  const merchant = await on.newMerchant()
  const { merchantId } = merchant
  const { tr } = await newCode(on, await on.as(merchant), { multipleUse: true })
  await giveAccount(on, merchantId, gstState)
  await giveFee(on, merchantId, { basisPoints: 173, fixedPaise: 31n })
  return { merchantId, tr }
}

/** A payment that was accepted at an instant of the past, which a payout or an accrual has not passed yet. */
export async function payAt(on: TestService, { merchantId, tr }: Billed, amount: number, at: string) {
  const { paymentId } = payloadOf(await notifyCredit(on.client, creditOf(tr, { amount })))
  await asSuperuser(on.db.database, async (db) => {
    await db.query('update payments set created_at = $2 where payment_id = $1', [paymentId, at])
    await db.query('update payout_positions set accrued_to = $2, due_from = $2 where merchant_id = $1', [
      merchantId,
      '2020-01-01',
    ])
  })
}

/** Issues the invoices of a month. */
export function issueMonth(on: TestService, month: string, merchantId?: string) {
  const { config, database, keyring, random } = on.app.services
  const newDocumentId = () => newId('txd', Date.now(), random)
  const issuing = { config, keyring, newDocumentId, month, merchantId, now: new Date() }
  return database.operate((tx) => issueInvoices(tx, issuing))
}
