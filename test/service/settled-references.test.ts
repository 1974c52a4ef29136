import { fundAccount } from '@svc/core/cards/account/fund-account'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, openApprovers } from '../harness/approvals.ts'
import { notifyTransfer, numberOf, quarantined, transferTo } from '../harness/bank-rail.ts'
import type { Browser } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import type { TestService } from '../harness/service.ts'
import {
  advancesOf,
  balanceOn,
  exceptedOn,
  exceptionsOf,
  indebtedOn,
  paidLateOn,
  settle,
} from '../harness/settled-outside.ts'

let service: TestService
let other: TestService
let asha: Browser
beforeAll(async () => {
  ;({ service, other, asha } = await openApprovers())
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const fund = ({ partnerId, cardAccountId }: TestPartner, reference: string, on = service) =>
  operatorsOf(on.app.services.commands)
    .open(fundAccount)
    .run(
      { partnerId, cardAccountId, amountPaise: paise(4_00n), reference, reason: 'float' },
      { actor: 'asha', target: cardAccountId },
    )

test.each(['payout_exceptions', 'refund_exceptions'] as const)(
  'a bank transfer that settles %s pays nothing else, whichever is entered first',
  async (kind) => {
    const [one, two, indebted, partner] = [
      await paidLateOn(service, 50),
      await paidLateOn(service, 50),
      await indebtedOn(service, 50),
      await newPartner(service, { fundsPaise: 1_000_00n }),
    ]
    const exceptions = `${kind}:${one.merchantId}`
    const reference = newReference()
    const first = await settle(asha, exceptions, { amount: '4.00', reference })
    expect(first.status).toBe(200)
    expect((await settle(asha, exceptions, { amount: '4.00', reference })).json).toEqual({
      ...first.json,
      isRepeat: true,
    })
    for (const account of [advancesOf(one), advancesOf(indebted), `${kind}:${two.merchantId}`])
      expect((await settle(asha, account, { amount: '4.00', reference })).error, account).toMatch(
        /^(settlement_reference_used|ledger_account_not_found)$/,
      )
    await expect(fund(partner, reference)).rejects.toMatchObject({ code: 'funding_reference_used' })
    const notice = transferTo(await numberOf(service, partner), { utr: reference, amount: 4 })
    expect(quarantined(await notifyTransfer(service.client, notice))).toBe('contradicts_entry')
    const funded = newReference()
    await fund(partner, funded)
    for (const account of [`${kind}:${two.merchantId}`, advancesOf(indebted)])
      expect((await settle(asha, account, { amount: '4.00', reference: funded })).error).toBe(
        'settlement_reference_used',
      )
    // Once it is reversed, the reference may be entered for what it was.
    await asha.post(`/ledger/journals/${first.json.journalId}/reverse`, { reason: 'of a partner' })
    await fund(partner, reference)
    expect((await settle(asha, exceptions, { amount: '4.00', reference })).error).toBe(
      'settlement_reference_used',
    )
  },
)

test('of a settlement and a funding under one reference, in two processes at once, one is entered', async () => {
  const late = await paidLateOn(service, 50)
  const partner = await newPartner(service, { fundsPaise: 1_000_00n })
  for (let round = 0; round < 10; round++) {
    const reference = newReference()
    const both = await Promise.allSettled([
      fund(partner, reference, round % 2 ? service : other),
      operatorsOf(other.app.services.commands)
        .open(settleBalance)
        .run(
          {
            tenantId: late.merchantId,
            kind: 'payout_exceptions',
            outcome: 'SETTLED',
            side: 'debit',
            amountPaise: paise(1_00n),
            reference,
            reason: 'returned',
          },
          { actor: 'ravi', target: late.merchantId },
        ),
    ])
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  }
})

test('a write-off, or a settlement with the card network, is not a bank transfer', async () => {
  const [late, excepted, partner] = [
    await paidLateOn(service, 50),
    await exceptedOn(service, 'taken', 4),
    await newPartner(service, { fundsPaise: 1_000_00n }),
  ]
  const [given, network] = [newReference(), newReference()]
  const account = `payout_exceptions:${late.merchantId}`
  await settle(asha, account, { amount: '4.00', reference: given, outcome: 'WRITTEN_OFF' })
  await settle(asha, exceptionsOf(excepted), { amount: '4.00', reference: network })
  for (const reference of [given, network]) await fund(partner, reference)
})

test.each(['SETTLED', 'WRITTEN_OFF'] as const)(
  'of two accounts of a merchant one is %s under a reference, and the other is rejected',
  async (outcome) => {
    const { merchantId } = await paidLateOn(service, 50)
    const reference = newReference()
    const entry = { amount: '2.00', reference, outcome }
    expect((await settle(asha, `payout_exceptions:${merchantId}`, entry)).json).toMatchObject({
      isRepeat: false,
    })
    const refused = await settle(asha, `refund_exceptions:${merchantId}`, entry)
    expect([refused.status, refused.error]).toEqual([409, 'settlement_reference_used'])
    expect(await balanceOn(service, `refund_exceptions:${merchantId}`)).toBe('-400')
    expect((await settle(asha, `payout_exceptions:${merchantId}`, entry)).json.isRepeat).toBe(true)
  },
)

test('a repeat returns the first settlement, also where it left nothing open on its side', async () => {
  const given = await exceptedOn(service, 'given', 12.5)
  const entry = { amount: '12.50', reference: newReference() }
  const first = await settle(asha, exceptionsOf(given), entry)
  expect(first.json).toMatchObject({ open: '0.00', isRepeat: false })
  expect((await settle(asha, exceptionsOf(given), entry)).json).toEqual({ ...first.json, isRepeat: true })
})
