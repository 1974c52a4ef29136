import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { paise } from '@svc/kernel/money'
import { sqlOn } from './approvals.ts'
import { csvStatement, type StatedLine } from './bank-statements.ts'
import type { adminCli } from './cli.ts'
import { type Json, payloadOf } from './client.ts'
import { type Billed, payAt } from './invoices.ts'
import { operatorsOf } from './operators.ts'
import { sendPayoutOf } from './payouts.ts'
import { newUtr } from './qr-codes.ts'
import { RAIL_KEY, type TestService } from './service.ts'
import { recordSettlement } from './settlements.ts'

export const stepPayout = (on: TestService, { merchantId }: Billed, payoutId: string, step: PayoutStep) =>
  operatorsOf(on.app.services.commands).open(changePayout).run({ merchantId, payoutId, step })

/** What a merchant was paid in a month, settled by the bank on a day and paid out; the fee and its tax, in paise. */
export async function earnedBy(
  on: TestService,
  of: Billed,
  amount: number,
  month: string,
  settledOn: string,
) {
  const utr = newUtr()
  await payAt(on, of, amount, `${month}-15T12:00:00+05:30`, utr)
  const line = { utr, line: 1, amountPaise: paise(BigInt(amount * 100)), settledOn }
  await recordSettlement(on.app.services.commands, `stf_${utr}`, [line])
  await accrueDueFees(on.app.services)
  const payoutId = await sendPayoutOf(on, of.merchantId)
  await stepPayout(on, of, payoutId, { to: 'PAID', utr: newUtr() })
  const [row] = await sqlOn<{ fee: string; tax: string }>(
    on,
    'select fee_paise as fee, cgst_paise + sgst_paise + igst_paise as tax from payouts where payout_id = $1',
    [payoutId],
  )
  return { payoutId, fee: BigInt(row!.fee), tax: BigInt(row!.tax), all: BigInt(row!.fee) + BigInt(row!.tax) }
}

/** The bank charges 1.00 and 0.18 of GST. */
export async function chargedBy(on: TestService, valueDate: string): Promise<void> {
  const lines = [
    { kind: 'charge', amount: '-1.00' },
    { kind: 'charge_gst', amount: '-0.18' },
  ]
  const batch = { batchUtr: newUtr(), valueDate, netAmount: '-1.18', lines }
  payloadOf(await on.client.notify('/rails/upi/settlements', batch, RAIL_KEY))
}

let bankNumber = 50100012340000
/** A statement of a new bank account of this purpose, which opens with nothing on a day. */
export async function stateLines(
  done: ReturnType<typeof adminCli>['done'],
  folder: string,
  { purpose, from, lines }: { purpose: string; from: string; lines: readonly StatedLine[] },
): Promise<Json> {
  const number = String(bankNumber++)
  const of = ['--purpose', purpose, '--name', purpose, '--number', number, '--ifsc', 'HDFC0000123']
  const account = await done('bank-account', 'create', ...of, '--opening', '0.00', '--from', from)
  const file = join(folder, `${number}.csv`)
  await writeFile(file, csvStatement(0, lines))
  return done('statement', 'import', file, '--account', account.bankAccountId)
}
