import { fundAccount } from '@svc/core/cards/account/fund-account'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { confirmRefund } from '@svc/core/payments/refunds/confirm-refund'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, sqlOn } from '../harness/approvals.ts'
import { payloadOf } from '../harness/client.ts'
import { newDispute } from '../harness/disputes.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner } from '../harness/partner.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, newShop, shopWith } from '../harness/refunds.ts'
import { BANK_RAIL_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await openService({ background: false })
  other = await openService({ background: false, db: service.db })
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

/** The route of each command's notices. */
const ROUTES: Readonly<Record<string, readonly [path: string, key: string]>> = {
  acceptPayment: ['/rails/upi/credits', RAIL_KEY],
  completeRefund: ['/rails/upi/refunds', RAIL_KEY],
  confirmRefund: ['/rails/upi/refunds', RAIL_KEY],
  closeDispute: ['/rails/upi/disputes', RAIL_KEY],
  fundAccount: ['/rails/bank/credits', BANK_RAIL_KEY],
}

/** A notice in quarantine of which nothing can be read, as an operator follows it. */
async function followed(command: string) {
  const words = { words: newUtr() }
  const { json } = await service.client.notify(ROUTES[command]![0], words, ROUTES[command]![1])
  const body = Buffer.from(JSON.stringify(words))
  return { noticeTenantId: 'house', noticeId: json.payload.noticeId as string, actor: 'operator asha', body }
}
type Followed = Awaited<ReturnType<typeof followed>>
type Run = (on: TestService, assigns: Followed) => Promise<unknown>

/** Each makes something else of a notice, with a target of its own. */
const COMMANDS: Readonly<Record<string, () => Promise<Run>>> = {
  acceptPayment: async () => {
    const { client } = await newShop(service)
    const { tr } = await newCode(service, client, { multipleUse: true })
    const credit = {
      utr: newUtr(),
      tr: canonicalReference(tr),
      amountPaise: paise(1_00n),
      payerVpa: null,
      payeeVpa: null,
      transactionAt: null,
      flags: [],
    }
    return (on, assigns) =>
      on.app.services.commands
        .open(acceptPayment)
        .run({ notice: assigns.body, read: { credit, isCertain: true }, assigns })
  },
  completeRefund: async () => {
    const { client, path } = await shopWith(service, 10)
    const { refundId } = payloadOf(await client.post(path, { amount: 1, referenceNumber: newUtr() }))
    const outcome = { refundId, utr: newUtr(), amountPaise: undefined, failureReason: null }
    return (on, assigns) => on.app.services.commands.open(completeRefund).run({ read: { outcome }, assigns })
  },
  confirmRefund: async () => {
    const { client } = await newShop(service)
    const { tr } = await newCode(service, client, { multipleUse: true })
    const { utr, status } = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 1e6 })))
    expect(status).toBe('REFUND_PENDING')
    const credit = { utr, amountPaise: undefined }
    return (on, assigns) => on.app.services.commands.open(confirmRefund).run({ credit, assigns })
  },
  closeDispute: async () => {
    const { merchantId, paymentId } = await shopWith(service, 10)
    const disputeId = await newDispute(service, paymentId)
    return (on, assigns) =>
      operatorsOf(on.app.services.commands)
        .open(closeDispute)
        .run({ merchantId, disputeId, paymentId, outcome: 'LOST', assigns })
  },
  fundAccount: async () => {
    const { partnerId, cardAccountId } = await newPartner(service, { fundsPaise: 0n })
    const funding = { partnerId, cardAccountId, amountPaise: paise(1_00n), reason: 'assigned' }
    const reference = newReference()
    return (on, { body: _body, ...assigns }) =>
      operatorsOf(on.app.services.commands)
        .open(fundAccount)
        .run({ ...funding, reference, assigns })
  },
}
const NAMES = Object.keys(COMMANDS)

const REFUSED = { code: 'notice_not_in_quarantine' }

/** One of them has the notice, and the other is refused as it would be a moment later. */
async function expectOne(both: readonly Promise<unknown>[], { noticeId }: Followed): Promise<void> {
  const outcomes = await Promise.allSettled(both)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: REFUSED })
  const [notice] = await sqlOn<{ status: string }>(
    service,
    'select status from rail_notices where notice_id = $1',
    [noticeId],
  )
  expect(notice).toEqual({ status: 'ASSIGNED' })
}

test.each(NAMES)('%s rejects a notice that was assigned after its operator read it', async (name) => {
  const [one, two] = [await COMMANDS[name]!(), await COMMANDS[name]!()]
  const assigns = await followed(name)
  await one(service, assigns)
  await expect(two(other, assigns)).rejects.toMatchObject(REFUSED)
})

test.each(NAMES)('of two operators who apply one notice by %s at once, one is rejected', async (name) => {
  for (const on of [service, other]) {
    const [one, two] = [await COMMANDS[name]!(), await COMMANDS[name]!()]
    const assigns = await followed(name)
    await expectOne([one(service, assigns), two(on, assigns)], assigns)
  }
})

test('of two operators who use one notice at once, to complete a refund and to return a credit, one is rejected', async () => {
  for (const [name, next] of [
    ['completeRefund', 'confirmRefund'],
    ['confirmRefund', 'completeRefund'],
  ] as const) {
    const [one, two] = [await COMMANDS[name]!(), await COMMANDS[next]!()]
    const assigns = await followed(name)
    await expectOne([one(service, assigns), two(other, assigns)], assigns)
  }
})
