import { OPEN } from '@svc/console-api/tenant-closing'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { OPEN_MONEY } from '@svc/core/ledger/chart-of-accounts'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, sqlOn } from '../harness/approvals.ts'
import { newTransferUtr, reverseEntry, withdraw } from '../harness/bank-rail.ts'
import { payloadOf } from '../harness/client.ts'
import {
  closingStateOf,
  leftOpenOf,
  numberEvents,
  startClosingOf,
  takeClosingSteps,
} from '../harness/closing.ts'
import { signedIn } from '../harness/console.ts'
import { closeAs, newDispute, utrOf } from '../harness/disputes.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { giveAccount, giveFee } from '../harness/payouts.ts'
import { creditOf, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { payOut } from '../harness/settled-outside.ts'
import { recordSettlement } from '../harness/settlements.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false })
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await service.close()
})

const open: TestService['app']['services']['commands']['open'] = (command: never) =>
  operatorsOf(service.app.services.commands).open(command) as never
const stateAfterSteps = async (tenantId: string) => {
  await numberEvents(service)
  await takeClosingSteps(service)
  return closingStateOf(service, tenantId)
}
async function closed(tenantId: string): Promise<void> {
  await startClosingOf(service, tenantId)
  await expect.poll(() => stateAfterSteps(tenantId), { timeout: 20_000 }).toBe('closed')
}
/** The steps of a closing in the audit, with who took each. */
const stepsOf = async (tenantId: string) =>
  (
    await sqlOn<{ step: string }>(
      service,
      `select actor || ' ' || action as step from audit_log
       where tenant_id = $1 and action like 'tenant.%' and action <> 'tenant.disabled' order by sequence`,
      [tenantId],
    )
  ).map(({ step }) => step)
/** What is open, but for what passes by itself. */
const openMoneyOf = async (tenantId: string) =>
  (await leftOpenOf(service, tenantId)).filter(({ amount }) => amount !== undefined)

interface Left extends Shop {
  readonly payoutId: string
  readonly failedRefundId: string
  readonly vpa: string
}

/** A merchant that was paid 100 rupees and paid out, with a failed refund of 4 before, and is closed. */
async function merchantThatLeft(): Promise<Left> {
  const shop = await shopWith(service, 100)
  const { merchantId } = shop
  await giveAccount(service, merchantId)
  const { refundId } = payloadOf(await shop.client.post(shop.path, { amount: 4, referenceNumber: newUtr() }))
  payloadOf(await notifyRefund(service, { refundId, status: 'FAILED', reason: 'account closed' }))
  const payout = await payOut(service, shop)
  await closed(merchantId)
  const [{ vpa }] = (await sqlOn<{ vpa: string }>(
    service,
    'select vpa from merchants where merchant_id = $1',
    [merchantId],
  )) as [{ vpa: string }]
  return { ...shop, payoutId: payout!.payoutId, failedRefundId: refundId, vpa }
}

/** A closed partner whose funds were withdrawn under this reference, but for what a card has spent. */
async function partnerThatLeft(): Promise<TestPartner & { reference: string; svcCardId: string }> {
  const partner = await newPartner(service, { fundsPaise: 600_00n })
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 500 }))
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 500, channel: 'pos' }))
  const reference = newTransferUtr()
  await withdraw(service, partner, 100_00n, reference)
  await closed(partner.partnerId)
  return { ...partner, reference, svcCardId }
}

const writeOff = (tenantId: string, kind: 'merchant_advances' | 'refund_exceptions', amount: bigint) =>
  open(settleBalance).run({
    tenantId,
    kind,
    amountPaise: paise(amount),
    outcome: 'WRITTEN_OFF',
    side: 'debit',
    reference: newReference(),
    reason: 'given up',
  })
const adjust = ({ merchantId, paymentId }: Shop, amount: bigint) =>
  open(adjustPayment).run({
    merchantId,
    paymentId,
    amountPaise: paise(amount),
    reference: newReference(),
    reason: 'letter',
  })
async function strayOf(payeeVpa?: string): Promise<string> {
  const notice = { ...creditOf('NOSUCHCODE', { amount: 10 }), ...(payeeVpa && { payeeVpa }) }
  const { paymentId, status } = payloadOf(await notifyCredit(service.client, notice))
  expect(status).toBe('SUSPENSE')
  return paymentId
}
const assign = (paymentId: string, tenantId: string, merchantId: string) =>
  open(resolveSuspense).run({ tenantId, paymentId, merchantId, reason: 'by phone' })

interface Arrival {
  readonly comes: (left: Left) => Promise<unknown>
  readonly opens: readonly object[]
  readonly ends: (left: Left) => Promise<unknown>
}
let dispute: string
const ARRIVALS: Readonly<Record<string, Arrival>> = {
  'a payout that the bank returns': {
    comes: ({ merchantId, payoutId }) =>
      open(changePayout).run({
        merchantId,
        payoutId,
        step: { to: 'FAILED', reason: 'account closed', returnUtr: newUtr() },
      }),
    opens: [{ what: 'payable', amount: '100.00' }],
    ends: (left) => payOut(service, left),
  },
  'a dispute': {
    comes: async ({ paymentId }) => void (dispute = await newDispute(service, paymentId, { amount: 5 })),
    opens: [
      { what: 'disputes', amount: '5.00' },
      { what: 'advances', amount: '5.00' },
    ],
    ends: () => closeAs(service, dispute, 'WON'),
  },
  'a failed refund that the bank has made after all': {
    comes: ({ failedRefundId: refundId }) =>
      notifyRefund(service, { refundId, status: 'REFUNDED', utr: newUtr() }),
    opens: [{ what: 'advances', amount: '4.00' }],
    ends: ({ merchantId }) => writeOff(merchantId, 'refund_exceptions', 4_00n),
  },
  'a credit to the address of the merchant': {
    comes: async ({ merchantId, vpa }) => assign(await strayOf(vpa), merchantId, merchantId),
    opens: [{ what: 'payable', amount: '10.00' }],
    ends: (left) => payOut(service, left),
  },
  'a credit in suspense of the platform that an operator assigns to the merchant': {
    comes: async ({ merchantId }) => assign(await strayOf(), 'house', merchantId),
    opens: [{ what: 'payable', amount: '10.00' }],
    ends: (left) => payOut(service, left),
  },
  'an adjustment of a payment upwards': {
    comes: (left) => adjust(left, 101_00n),
    opens: [{ what: 'payable', amount: '1.00' }],
    ends: (left) => payOut(service, left),
  },
  'an adjustment of a payment downwards': {
    comes: (left) => adjust(left, 98_00n),
    opens: [{ what: 'advances', amount: '2.00' }],
    ends: ({ merchantId }) => writeOff(merchantId, 'merchant_advances', 2_00n),
  },
}

test.each(Object.entries(ARRIVALS))(
  'after %s a closed merchant is closing again, until the money has left',
  async (_, { comes, opens, ends }) => {
    const left = await merchantThatLeft()
    await comes(left)
    expect(await closingStateOf(service, left.merchantId)).toBe('closing')
    expect(await openMoneyOf(left.merchantId)).toEqual(opens)
    expect(await stateAfterSteps(left.merchantId)).toBe('closing')
    await ends(left)
    await expect.poll(() => stateAfterSteps(left.merchantId), { timeout: 20_000 }).toBe('closed')
    expect(await stepsOf(left.merchantId)).toEqual([
      'operator asha tenant.closing',
      'service tenant.closed',
      'service tenant.reopened',
      'service tenant.closed',
    ])
  },
)

test('after a reversed withdrawal, a funding or a refund of the card network a closed partner is closing again', async () => {
  const left = await partnerThatLeft()
  const { partnerId } = left
  const leaves = async (amount: bigint) => {
    expect(await closingStateOf(service, partnerId)).toBe('closing')
    await withdraw(service, left, amount)
    await expect.poll(() => stateAfterSteps(partnerId), { timeout: 20_000 }).toBe('closed')
  }
  await reverseEntry(service, left, left.reference)
  await leaves(100_00n)
  const reference = newTransferUtr()
  const { cardAccountId } = left
  await open(fundAccount).run(
    { partnerId, cardAccountId, amountPaise: paise(7_00n), reference, reason: 'float' },
    { actor: 'asha', action: 'card_account.funded', target: cardAccountId, tenantId: partnerId },
  )
  await leaves(7_00n)
  payloadOf(await service.client.post(`/sandbox/cards/${left.svcCardId}/refund`, { amount: 30 }))
  expect(await closingStateOf(service, partnerId)).toBe('closing')
  expect(await openMoneyOf(partnerId)).toEqual([{ what: 'cards', amount: '30.00' }])
  // One of them came with a command of an operator, whose login posted it.
  const reopened = (await stepsOf(partnerId)).filter((step) => step.endsWith('tenant.reopened'))
  expect(reopened).toEqual(Array(3).fill('service tenant.reopened'))
})

test('money that waits for its account while the tenant is closed reopens it', async () => {
  const left = await merchantThatLeft()
  const { merchantId } = left
  await sqlOn(service, 'update tenants set closed_at = null where tenant_id = $1', [merchantId])
  await asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    await db.query('select from ledger_accounts where tenant_id = $1 for no key update', [merchantId])
    await db.query('update tenants set closed_at = clock_timestamp() where tenant_id = $1', [merchantId])
    const adjusting = adjust(left, 101_00n)
    await onceAwaited(db, 'commit')
    await adjusting
  })
  expect(await closingStateOf(service, merchantId)).toBe('closing')
})

test('what the bank settles of earlier payments leaves a merchant closed', async () => {
  const { merchantId, paymentId } = await merchantThatLeft()
  const utr = await utrOf(service, paymentId)
  const lines = [{ utr, line: 1, amountPaise: paise(100_00n), settledOn: '2026-04-01' }]
  await recordSettlement(service.app.services.commands, 'stf_left', lines)
  expect(
    await sqlOn(service, `select from settlement_lines where tenant_id = $1 and status = 'MATCHED'`, [
      merchantId,
    ]),
  ).toHaveLength(1)
  expect(await closingStateOf(service, merchantId)).toBe('closed')
})

test('the fees of past days can be set to zero only for a closing merchant, so that fees above its payments do not keep it open', async () => {
  const { merchantId } = await shopWith(service, 2)
  await giveAccount(service, merchantId)
  await giveFee(service, merchantId, { fixedPaise: 3_00n })
  const admin = await signedIn(service, 'admin')
  const fee = (percent: string) =>
    admin.post(`/merchants/${merchantId}/fees`, { percent, fixed: '0', validFrom: '2020-01-01' })
  expect((await fee('0')).error).toBe('validation_failed')
  await startClosingOf(service, merchantId)
  expect(await payOut(service, { merchantId })).toBeUndefined()
  expect((await fee('1')).error).toBe('validation_failed')
  expect((await fee('0')).status).toBe(200)
  expect(await payOut(service, { merchantId })).toMatchObject({ amountPaise: 2_00n })
  await expect.poll(() => stateAfterSteps(merchantId), { timeout: 20_000 }).toBe('closed')
})

test('the kinds of account that reopen a tenant are those that keep it from being closed', async () => {
  const [{ source }] = (await sqlOn<{ source: string }>(
    service,
    `select prosrc as source from pg_proc where proname = 'reopen_closed_tenants'`,
  )) as [{ source: string }]
  const kindsIn = (text: string) => text.match(/kind in \(([^)]*)\)/)?.[1]?.match(/\w+/g) ?? []
  expect(kindsIn(source).toSorted()).toEqual(OPEN_MONEY.toSorted())
  const closing = OPEN.filter(({ unit }) => unit === 'paise').flatMap(({ sql }) => kindsIn(sql))
  expect([...new Set(closing)].toSorted()).toEqual(OPEN_MONEY.toSorted())
})
