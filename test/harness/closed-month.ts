import { lastDayOf } from '@svc/core/payments/fees/gst'
import { createBankAccount } from '@svc/core/statements/bank-account'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { csvStatement } from './bank-statements.ts'
import { newBilled, payAt } from './invoices.ts'
import { newUtr } from './qr-codes.ts'
import type { TestService } from './service.ts'

/** A month that is over, with everything that its closing needs but what finance does. */
export interface MonthToClose {
  /** `YYYY-MM`, and its last day. */
  readonly month: string
  readonly through: string
  readonly merchantId: string
  readonly bankAccountId: string
  /** Transfers of ₹1,067.00, with a line of ₹77.00 that fits nothing, and of ₹500.00. */
  readonly transfers: readonly [string, string]
  readonly strayUtr: string
  readonly settlementFile: Buffer
  /** Shows the first transfer by its reference, and the second one by that of a cheque. */
  readonly statementFile: Buffer
}

/** The month before this one, in which a merchant was paid ₹1,000.00 and ₹500.00. */
export async function makeMonthToClose(service: TestService): Promise<MonthToClose> {
  const [year, of] = calendarDay(new Date(), 'Asia/Kolkata').split('-').map(Number) as [number, number]
  const month = new Date(Date.UTC(year, of - 2, 1)).toISOString().slice(0, 7)
  const through = lastDayOf(month)
  const { database } = service.app.services
  const bankAccountId = `bac_${'0'.repeat(26)}`
  await database.operate((tx) =>
    createBankAccount(tx, {
      bankAccountId,
      purpose: 'merchant_escrow',
      name: 'Escrow at HDFC',
      accountNumber: '50100012345678',
      ifsc: 'HDFC0000123',
      openingPaise: paise(0n),
      openedOn: `${month}-01`,
      createdBy: 'operator asha',
    }),
  )
  const shop = await newBilled(service, '29')
  const [first, second, strayUtr] = [newUtr(), newUtr(), newUtr()]
  const transfers = [`HDFCN${first.slice(-8)}`, `HDFCN${second.slice(-8)}`] as const
  await payAt(service, shop, 1_000, `${month}-15T10:00:00+05:30`, first)
  await payAt(service, shop, 500, `${month}-16T10:00:00+05:30`, second)
  const settlementFile = [
    'batchUtr,valueDate,netAmount,kind,reference,amount,date',
    `${transfers[0]},${through},1067.00,payment,${first},1000.00,${month}-15`,
    `${transfers[0]},${through},1067.00,payment,${strayUtr},77.00,${month}-15`,
    `${transfers[0]},${through},1067.00,charge,,-10.00,${through}`,
    `${transfers[1]},${through},500.00,payment,${second},500.00,${month}-16`,
    '',
  ].join('\n')
  const statementFile = csvStatement(0, [
    { date: through, paise: 106_700, reference: transfers[0] },
    { date: through, paise: 50_000, reference: 'CHEQUE000077', narration: 'cheque of the bank' },
  ])
  return {
    month,
    through,
    merchantId: shop.merchantId,
    bankAccountId,
    transfers,
    strayUtr,
    settlementFile: Buffer.from(settlementFile),
    statementFile: Buffer.from(statementFile),
  }
}
