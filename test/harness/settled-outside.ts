import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { calendarDay } from '@svc/kernel/time'
import { expect } from 'vitest'
import { byTwo, newReference, sqlOn } from './approvals.ts'
import { Terminal } from './card-rail.ts'
import { payloadOf } from './client.ts'
import type { Browser } from './console.ts'
import { newDispute } from './disputes.ts'
import { operatorsOf } from './operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from './partner.ts'
import { giveAccount, preparePayoutOf } from './payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from './qr-codes.ts'
import { notifyRefund, type Shop, shopWith } from './refunds.ts'
import type { TestService } from './service.ts'

export const advancesOf = ({ merchantId }: Pick<Shop, 'merchantId'>) => `merchant_advances:${merchantId}`
export const exceptionsOf = ({ partnerId }: Pick<TestPartner, 'partnerId'>) => `card_exceptions:${partnerId}`

/** In paise, credits less debits. */
export async function balanceOn(on: TestService, accountId: string): Promise<string | undefined> {
  const text = 'select balance::text from ledger_accounts where account_id = $1'
  return (await sqlOn<{ balance: string }>(on, text, [accountId]))[0]?.balance
}

interface Entry {
  readonly amount: string
  readonly outcome?: 'SETTLED' | 'WRITTEN_OFF'
  readonly reference?: string
  readonly against?: string
}
export const settle = (
  by: Browser,
  accountId: string,
  { outcome = 'SETTLED', reference = newReference(), ...entry }: Entry,
) => by.post(`/ledger/accounts/${accountId}/settle`, { ...entry, outcome, reference, reason: 'by letter' })

/** Pays out to a merchant what is due to it. */
export async function payOut({ app }: TestService, { merchantId }: Pick<Shop, 'merchantId'>) {
  const { commands } = app.services
  const businessDay = calendarDay(new Date(), 'Asia/Kolkata')
  const requested = { merchantId, businessDay, preparedBy: 'operator asha', isEarly: true }
  const { payout } = await operatorsOf(commands)
    .open(preparePayout)
    .run({ ...requested, requiresSettlement: false })
  for (const step of [
    { to: 'APPROVED', by: 'operator ravi' },
    { to: 'SENT', runId: 'pyr_settled' },
    { to: 'PAID', utr: newReference() },
  ] as const)
    if (payout)
      await operatorsOf(commands).open(changePayout).run({ merchantId, payoutId: payout.payoutId, step })
  return payout
}

/** A merchant that was paid out, and then owes the amount of a dispute. */
export async function indebtedOn(
  on: TestService,
  amount: number,
): Promise<Shop & { readonly disputeId: string }> {
  const shop = await shopWith(on, amount)
  await giveAccount(on, shop.merchantId)
  await payOut(on, shop)
  const disputeId = await newDispute(on, shop.paymentId, { amount })
  expect(await balanceOn(on, advancesOf(shop))).toBe(String(-amount * 100))
  return { ...shop, disputeId }
}

export const payOn = async (on: TestService, { client }: Shop, amount: number): Promise<void> => {
  const { tr } = await newCode(on, client, { multipleUse: true })
  payloadOf(await notifyCredit(on.client, creditOf(tr, { amount })))
}

/** A partner for whose card the network took this beyond its balance, or gave back without a capture. */
export async function exceptedOn(
  on: TestService,
  message: 'taken' | 'given',
  amount: number,
): Promise<TestPartner> {
  const partner = await newPartner(on, { fundsPaise: 1_000_00n })
  const client = await asPartner(on.client, partner)
  const { token } = payloadOf(await createCard(client, partner))
  const terminal = new Terminal(on.client, token)
  if (message === 'taken') await terminal.advise('forced_post', 500 + amount)
  else await terminal.refund(amount)
  expect(await balanceOn(on, exceptionsOf(partner))).toBe(String((message === 'taken' ? -100 : 100) * amount))
  return partner
}

/** A merchant whose failed payout of this amount, and failed refund of 4 rupees, the bank has made after all. */
export async function paidLateOn(on: TestService, amount: number): Promise<Shop> {
  const shop = await shopWith(on, amount)
  const { client, merchantId, path } = shop
  await giveAccount(on, merchantId)
  const { refundId } = payloadOf(await client.post(path, { amount: 4, referenceNumber: newUtr() }))
  payloadOf(await notifyRefund(on, { refundId, status: 'FAILED', reason: 'account closed' }))
  const payoutId = await preparePayoutOf(on, merchantId)
  const step = async (to: PayoutStep) =>
    byTwo(
      on,
      await operatorsOf(on.app.services.commands).open(changePayout).run({ merchantId, payoutId, step: to }),
    )
  await step({ to: 'APPROVED', by: 'operator ravi' })
  await step({ to: 'SENT', runId: 'pyr_late' })
  await step({ to: 'FAILED', reason: 'account closed' })
  await payOut(on, shop)
  await step({ to: 'PAID', utr: newReference() })
  payloadOf(await notifyRefund(on, { refundId, status: 'REFUNDED', utr: newUtr() }))
  expect(await balanceOn(on, `payout_exceptions:${merchantId}`)).toBe(String(-amount * 100))
  expect(await balanceOn(on, `refund_exceptions:${merchantId}`)).toBe('-400')
  return shop
}
