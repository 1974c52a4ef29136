import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import type { OpenedKind } from '@svc/core/ledger/opening-balance'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { paise } from '@svc/kernel/money'
import type { Json } from './client.ts'
import { closeAs, newDispute } from './disputes.ts'
import { operatorsOf } from './operators.ts'
import { newPartner } from './partner.ts'
import { giveAccount, giveFee } from './payouts.ts'
import { newCode } from './qr-codes.ts'
import type { TestMerchant, TestService } from './service.ts'

interface Recording {
  readonly service: TestService
  readonly merchant: TestMerchant
  /** Records what moves while the work is done. */
  readonly flow: (title: string, work: () => Promise<unknown>) => Promise<string>
  readonly credit: (tr: string, rest: object) => Promise<Json>
}

/** What operators do with a merchant's money: payouts, and credits in suspense. */
export const merchantFlows = async (recording: Recording): Promise<string[]> => [
  ...(await payoutFlows(recording)),
  ...(await suspenseFlows(recording)),
  ...(await disputeFlows(recording)),
  ...(await adjustmentFlows(recording)),
  ...(await takeoverFlows(recording)),
]

async function payoutFlows({ service, merchant: { merchantId }, flow }: Recording): Promise<string[]> {
  const { commands } = service.app.services
  let payoutId = ''
  const prepare = async () => {
    const args = { merchantId, businessDay: '2026-04-01', preparedBy: 'one', isEarly: true }
    ;({ payoutId } = (await operatorsOf(commands).open(preparePayout).run(args)).payout!)
  }
  const complete = async (outcome: PayoutStep) => {
    for (const step of [{ to: 'APPROVED', by: 'another' }, { to: 'SENT', runId: 'pyr_1' }, outcome] as const)
      await operatorsOf(commands).open(changePayout).run({ merchantId, payoutId, step })
  }
  await giveAccount(service, merchantId)
  await giveFee(service, merchantId, { basisPoints: 200 })
  return [
    await flow('A payout to the merchant is prepared, less fees and GST', prepare),
    await flow('The bank cannot pay it', () => complete({ to: 'FAILED', reason: 'account closed' })),
    await flow('It is prepared again', prepare),
    await flow('The bank has paid it', () => complete({ to: 'PAID', utr: 'PAYOUT000001' })),
  ]
}

async function adjustmentFlows({ service, flow, credit }: Recording): Promise<string[]> {
  const merchant = await service.newMerchant()
  const { merchantId } = merchant
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  const { paymentId } = await credit(tr, { utr: 'WRONG00001' })
  const adjust = (amountPaise: bigint, reference: string) => () =>
    operatorsOf(service.app.services.commands)
      .open(adjustPayment)
      .run({
        merchantId,
        paymentId,
        amountPaise: paise(amountPaise),
        reference,
        reason: 'letter of the bank',
      })
  return [
    await flow('The bank corrects the amount of a payment: it was less', adjust(249_00n, 'LETTER0001')),
    await flow('The bank corrects it again: it was more', adjust(250_00n, 'LETTER0002')),
  ]
}

async function takeoverFlows({ service, flow }: Recording): Promise<string[]> {
  const { merchantId } = await service.newMerchant()
  const { partnerId, cardAccountId } = await newPartner(service, { fundsPaise: 0n })
  const enter = (kind: OpenedKind, tenantId: string, ownerId: string) => () =>
    operatorsOf(service.app.services.commands)
      .open(enterOpeningBalance)
      .run({
        tenantId,
        kind,
        ownerId,
        amountPaise: paise(1250_50n),
        effectiveDate: '2026-03-31',
        reference: 'opb_example/1',
        reason: 'takeover',
      })
  return [
    await flow('What another system owed a merchant is imported', enter('payable', merchantId, merchantId)),
    await flow(
      'What was unspent on a card account there is imported',
      enter('card_funding', partnerId, cardAccountId),
    ),
  ]
}

async function disputeFlows({ service, merchant, flow, credit }: Recording): Promise<string[]> {
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  const { paymentId } = await credit(tr, { utr: 'DISPUTED01' })
  let disputeId = ''
  const dispute = (amount: number) => async () => {
    disputeId = await newDispute(service, paymentId, { amount })
  }
  return [
    await flow('A payer disputes a part of a payment', dispute(49.5)),
    await flow('The merchant wins the dispute', () => closeAs(service, disputeId, 'WON')),
    await flow('A payer disputes a payment', dispute(249.5)),
    await flow('The merchant loses the dispute', () => closeAs(service, disputeId, 'LOST')),
  ]
}

async function suspenseFlows({ service, merchant, flow, credit }: Recording): Promise<string[]> {
  const resolve = operatorsOf(service.app.services.commands).open(resolveSuspense)
  const { merchantId, vpa } = merchant
  const own = await credit('NOSUCHCODE', { utr: 'OWN0000001', payeeVpa: vpa })
  const platforms = await credit('NOSUCHCODE', { utr: 'PLATFORM01' })
  const assign = (tenantId: string, paymentId: string) =>
    resolve.run({ tenantId, paymentId, merchantId, reason: 'receipt 1042' })
  return [
    await flow('A credit in suspense is assigned to its merchant', () => assign(merchantId, own.paymentId)),
    await flow('A credit in the platform’s suspense is assigned to a merchant', () =>
      assign('house', platforms.paymentId),
    ),
  ]
}
