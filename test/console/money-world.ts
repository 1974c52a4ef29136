import { listAlerts } from '@svc/console-api/alerts/alert-store'
import { watchAlerts } from '@svc/console-api/alerts/watch-alerts'
import { changePayout, type PayoutStep } from '@svc/core/payments/change-payout'
import { calendarDay } from '@svc/kernel/time'
import { expect } from 'vitest'
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
  readonly paidInItId: string
  /** A credit that fits no QR code. */
  readonly strayUtr: string
  /** A capture of a card that nobody knows. */
  readonly exceptionId: string
  /** A notice of the bank without a reference. */
  readonly noticeId: string
}

const SHOP = 'Lakh Stores'

export async function makeMoneyWorld(service: TestService): Promise<MoneyWorld> {
  const { merchantId: shopId, tr } = await newShop(service, SHOP)
  const paidInItId = await pay(service, tr, 90_000.02)
  await pay(service, tr, 60_000)
  const payoutId = await preparePayoutOf(service, shopId)
  const { utr: strayUtr } = await strayCredit(service, 777.77)
  const captured = await new Terminal(service.client, 'crd_nobodys').send('captures', { amount: 321.5 })
  const { exceptionId } = captured.json.payload
  const noticeId = await unreadableNotice(service, 249.5)
  await openAlerts(service)
  return {
    shopId,
    shopName: SHOP,
    payoutId,
    payoutDay: today(),
    paidInItId,
    strayUtr,
    exceptionId,
    noticeId,
  }
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
  const open = await database.operate((tx) => listAlerts(tx, false, 50))
  expect(open.map(({ kind }) => kind)).toContain('notices_in_quarantine')
}
