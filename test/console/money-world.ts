import { type Alert, alert } from '@svc/console-api/alerts/alert-store'
import { watchAlerts } from '@svc/console-api/alerts/watch-alerts'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { importSettlementFile, readSettlementFile } from '@svc/core/payments/settlements/settlement-file'
import { createBankAccount } from '@svc/core/statements/bank-account'
import { importStatement } from '@svc/core/statements/import-statement'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { readRows } from '@svc/server/http/resource'
import { expect } from 'vitest'
import { sourceOf } from '../harness/bank-files.ts'
import { csvStatement } from '../harness/bank-statements.ts'
import { Terminal } from '../harness/card-rail.ts'
import { payloadOf } from '../harness/client.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee, preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, RAIL_KEY, type TestService } from '../harness/service.ts'

/** Money that leaves, of a merchant of its own. */
export interface MoneyWorld {
  readonly shopId: string
  readonly shopName: string
  /** Prepared by `operator asha` for the business day `payoutDay`, for a second person. */
  readonly payoutId: string
  readonly payoutDay: string
  /** A credit that fits no QR code. */
  readonly strayUtr: string
  /** A capture of a card that nobody knows. */
  readonly exceptionId: string
  /** A notice of the bank without a reference. */
  readonly noticeId: string
  /** A transfer of the bank with a line that fits nothing. */
  readonly batchId: string
  readonly batchUtr: string
}

const SHOP = 'Lakh Stores'

export async function makeMoneyWorld(service: TestService): Promise<MoneyWorld> {
  const { merchantId: shopId, tr } = await newShop(service, SHOP)
  await pay(service, tr, 90_000.02)
  await pay(service, tr, 60_000)
  const payoutId = await preparePayoutOf(service, shopId)
  const { utr: strayUtr } = await strayCredit(service, 777.77)
  const captured = await new Terminal(service.client, 'crd_nobodys').send('captures', { amount: 321.5 })
  const { exceptionId } = captured.json.payload
  const noticeId = await unreadableNotice(service, 249.5)
  await openAlerts(service)
  const { batchId, batchUtr } = await makeBankFiles(service)
  return {
    shopId,
    shopName: SHOP,
    payoutId,
    payoutDay: today(),
    strayUtr,
    exceptionId,
    noticeId,
    batchId,
    batchUtr,
  }
}

/** A transfer with a line that fits nothing, and a statement with one. */
async function makeBankFiles(service: TestService) {
  const { database, random } = service.app.services
  const bankAccountId = `bac_${'7'.repeat(26)}`
  await database.operate((tx) =>
    createBankAccount(tx, {
      bankAccountId,
      purpose: 'merchant_escrow',
      name: 'Escrow at HDFC',
      accountNumber: '50100012345678',
      ifsc: 'HDFC0000123',
      openingPaise: paise(0n),
      openedOn: today(),
      createdBy: 'operator asha',
    }),
  )
  const batchUtr = 'HDFCN5260077'
  const days = { zone: 'Asia/Kolkata', today: today() }
  const transfer = `batchUtr,valueDate,netAmount,kind,reference,amount,date\n${batchUtr},${today()},77.00,payment,NOSUCHPAYMENT1,77.00,${today()}\n`
  const format = SETTLEMENT_FORMATS['svc']!
  const file = await readSettlementFile(sourceOf(transfer), { format, rail: 'upi', days })
  const { done } = await importSettlementFile(service.app.services, file, { actor: 'operator asha' })
  const line = { date: today(), paise: 5_500, reference: 'STRAY0000077' }
  const statement = await readStatement(sourceOf(csvStatement(0, [line])), undefined, days)
  const tools = { database, random, nowMs: () => Date.now(), timeZone: days.zone }
  await importStatement(tools, statement, { bankAccountId, by: 'operator asha' })
  return { batchUtr, batchId: done.batches[0]!.batchId }
}

const today = (): string => calendarDay(new Date(), 'Asia/Kolkata')

/** A merchant that is charged half a percent and 48.73 rupees for each payment. */
export async function newShop(service: TestService, name: string) {
  const merchant = await service.newMerchant({ name })
  const { merchantId } = merchant
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  await giveAccount(service, merchantId)
  await giveFee(service, merchantId, { basisPoints: 50, fixedPaise: 4_873n })
  return { merchantId, tr }
}

export async function pay(service: TestService, tr: string, amount: number): Promise<string> {
  const credit = creditOf(tr, { utr: newUtr(), amount })
  return payloadOf(await notifyCredit(service.client, credit)).paymentId
}

/** A signed notice of a credit that has no reference: it waits in quarantine. */
export async function unreadableNotice(service: TestService, amount: number): Promise<string> {
  const response = await service.client.notify('/rails/upi/credits', { amount }, RAIL_KEY)
  return response.json.payload.noticeId
}

/** A credit that fits no QR code: it waits in suspense. */
export async function strayCredit(service: TestService, amount: number) {
  const credit = creditOf('NOSUCHCODE', { utr: newUtr(), amount })
  const { paymentId } = payloadOf(await notifyCredit(service.client, credit))
  return { utr: credit.utr, paymentId: paymentId as string }
}

export const changePayoutOf = (
  service: TestService,
  ids: { readonly merchantId: string; readonly payoutId: string },
  step: PayoutStep,
) =>
  operatorsOf(service.app.services.commands)
    .open(changePayout)
    .run({ ...ids, step })

/** The service opens alerts every 15 seconds; this takes its turn at once, and gives it back. */
async function openAlerts({ app: { services }, db }: TestService): Promise<void> {
  const { database } = services
  await asSuperuser(db.database, async (client) => {
    const giveUp = () => client.query(`update alert_watch set until = '-infinity'`)
    await giveUp()
    expect(await watchAlerts(services, 'the world')).toBe(true)
    await giveUp()
  })
  const { data } = await database.operate((tx) => readRows<Alert>(tx, alert, { reader: 'operator' }, {}))
  expect(data.map(({ kind }) => kind)).toContain('notices_in_quarantine')
}
