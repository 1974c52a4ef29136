import { monthBefore } from '@svc/console-api/issue-invoices'
import { newId } from '@svc/contract/id-kinds'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { issueInvoices } from '@svc/core/payments/fees/issue-invoices'
import type { TaxDocument } from '@svc/core/payments/fees/tax-document'
import { required } from '@svc/kernel/invariant'
import { calendarDay } from '@svc/kernel/time'
import { readRows } from '@svc/server/http/resource'
import { type ListedTaxDocument, taxDocument } from '@svc/server/payments/tax-documents'
import { payloadOf } from './client.ts'
import { giveAccount, giveFee } from './payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from './qr-codes.ts'
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
export async function payAt(
  on: TestService,
  { merchantId, tr }: Billed,
  amount: number,
  at: string,
  utr = newUtr(),
) {
  const { paymentId } = payloadOf(await notifyCredit(on.client, creditOf(tr, { amount, utr })))
  await asSuperuser(on.db.database, async (db) => {
    await db.query('update payments set created_at = $2 where payment_id = $1', [paymentId, at])
    await db.query('update payout_positions set accrued_to = $2, due_from = $2 where merchant_id = $1', [
      merchantId,
      '2020-01-01',
    ])
  })
}

/** Issues the invoices of a month. */
export function issueMonth(on: TestService, month: string, merchantId?: string, now = new Date()) {
  const { config, database, keyring, random } = on.app.services
  const ids = (prefix: 'txd' | 'evt') => newId(prefix, Date.now(), random)
  const issuing = { config: { ...config, ...SUPPLIER }, keyring, newId: ids, month, merchantId, now }
  return database.operate((tx) => issueInvoices(tx, issuing))
}

/** The invoice of a merchant's only fee of the month before, of a payment by this code. */
export async function newTaxDocument(on: TestService, of: Billed, amount = 249.5): Promise<TaxDocument> {
  const month = monthBefore(calendarDay(new Date(), 'Asia/Kolkata'))
  await payAt(on, of, amount, `${month}-15T12:00:00+05:30`)
  await accrueDueFees(on.app.services)
  const [document] = await issueMonth(on, month, of.merchantId)
  return required(document, 'the payment has a fee')
}

/** The same of a merchant without a fee. */
export async function newFirstInvoice(on: TestService, of: Billed): Promise<TaxDocument> {
  await giveFee(on, of.merchantId, { basisPoints: 173, fixedPaise: 31n })
  return newTaxDocument(on, of)
}

/** The tax documents of a month, or all, oldest first. */
export async function taxDocumentsOf({ app }: TestService, period?: string): Promise<TaxDocument[]> {
  const wanted = { ...(period !== undefined && { period }), sort: 'created', limit: 500 }
  const { data } = await app.services.database.operate((tx) =>
    readRows<ListedTaxDocument>(tx, taxDocument, { reader: 'operator' }, wanted),
  )
  return data
}
