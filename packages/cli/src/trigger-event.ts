import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPES, type EventType } from '@svc/contract/events'
import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import type { SandboxFile } from '@svc/server/sandbox/demo'
import { withInstallation } from './context.ts'
import type { ApiPath } from './tenant-session.ts'
import { asPartner, byTime, type Override, type Overrides, type Trigger } from './trigger.ts'
import { COIN_TRIGGERS } from './trigger-coins.ts'
import { asMerchant, byTheNetwork, newCard, newCode, pay, payOut, spend } from './trigger-requests.ts'
import { UsageError } from './usage-error.ts'

export type { Overrides } from './trigger.ts'

const authorization = (amount: number) => () => ({ type: 'authorization', amount })

const byTheBank = async (): Promise<string> => {
  throw new UsageError('A signed notice of the bank causes it: see “Disputes” in docs/guides/upi-rail.md')
}

const byReversal = async (): Promise<string> => {
  throw new UsageError('An operator causes it: svc admin journal reverse')
}

const TRIGGERS: Record<EventType, Trigger> = {
  'qr_code.created': async (sandbox) => `made ${(await newCode(sandbox)).qrCodeId}`,
  async 'qr_code.credited'(sandbox) {
    const { qrCodeId } = await newCode(sandbox, { multipleUse: true })
    return `paid ${qrCodeId} with ${(await pay(sandbox, { qrCodeId, amount: 10 })).utr}`
  },
  async 'qr_code.cancelled'(sandbox) {
    const { qrCodeId } = await newCode(sandbox)
    await asMerchant(sandbox).call('PATCH', `/api/v0/qr-code/${qrCodeId}/cancel`, {})
    return `cancelled ${qrCodeId}`
  },
  async 'qr_code.expired'(sandbox) {
    const { qrCodeId } = await newCode(sandbox, { expiry: new Date(Date.now() + 2_000).toISOString() })
    await sleep(2_000)
    return `${qrCodeId} expires now`
  },
  async 'payment.refund_pending'(sandbox) {
    const { qrCodeId } = await newCode(sandbox, { fixedAmount: true, amount: 10 })
    return `paid too much to ${qrCodeId} with ${(await pay(sandbox, { qrCodeId, amount: 11 })).utr}`
  },
  async 'payment.refunded'(sandbox) {
    const { qrCodeId } = await newCode(sandbox, { fixedAmount: true, amount: 10 })
    return `paid too much to ${qrCodeId} with ${(await pay(sandbox, { qrCodeId, amount: 11 })).utr}`
  },
  async 'payment.refund_failed'(sandbox) {
    const { qrCodeId } = await newCode(sandbox, { multipleUse: true })
    const { payment } = await pay(sandbox, { qrCodeId, amount: 20 })
    const refund = { amount: 10.95, referenceNumber: randomUUID() }
    await asMerchant(sandbox).call('POST', `/api/v0/payments/${payment?.paymentId}/refunds`, refund)
    return `refunding ${payment?.paymentId}, which fails within seconds`
  },
  async 'payment.suspended'(sandbox) {
    const { upiUri } = await newCode(sandbox)
    const upi = upiUri.replace(/&tr=[^&]*/, '&tr=unknown')
    return `paid to no code with ${(await pay(sandbox, { upi, amount: 10 })).utr}`
  },
  'payment.settled': async () => {
    throw new UsageError('A settlement file of the bank causes it: svc admin settlement import')
  },
  'payment.adjusted': async () => {
    throw new UsageError('An operator corrects payments: svc admin payments adjust')
  },
  'payment.assigned': async () => {
    throw new UsageError('An operator assigns credits: svc admin suspense assign')
  },
  'payment.disputed': byTheBank,
  'dispute.won': byTheBank,
  'dispute.lost': byTheBank,
  'payout.paid': async (sandbox) => `paid out ${await payOut(sandbox, 'PAID')}`,
  'payout.failed': async (sandbox) => `could not pay out ${await payOut(sandbox, 'FAILED')}`,
  'card.created': async (sandbox) => `issued ${await newCard(sandbox)}`,
  async 'card.status_changed'(sandbox) {
    const svcCardId = await newCard(sandbox)
    await asPartner(sandbox).call('PATCH', `/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'L' })
    return `locked ${svcCardId}`
  },
  'card.spent': async (sandbox) => `spent from ${await spend(sandbox)}`,
  async 'card.refunded'(sandbox) {
    const svcCardId = await spend(sandbox)
    await asPartner(sandbox).call(
      'POST',
      `/sandbox/cards/${svcCardId}/refund`,
      sandbox.override({ amount: 25 }),
    )
    return `refunded to ${svcCardId}`
  },
  'card.authorized': (sandbox) => byTheNetwork(sandbox, authorization(10)),
  'card.declined': (sandbox) => byTheNetwork(sandbox, authorization(1e6)),
  'card.captured': (sandbox) =>
    byTheNetwork(sandbox, authorization(10), (authorizationId) => ({
      type: 'capture',
      amount: 10,
      authorizationId,
    })),
  'card.voided': (sandbox) =>
    byTheNetwork(sandbox, authorization(10), (authorizationId) => ({ type: 'void', authorizationId })),
  'card.hold_expired': byTime,
  'card.expiring': byTime,
  'card.expired': byTime,
  async 'card.replaced'(sandbox) {
    const svcCardId = await newCard(sandbox)
    await asPartner(sandbox).call('POST', `/api/v0/partner/svcCard/${svcCardId}/replace`, { reason: 'lost' })
    return `replaced ${svcCardId}`
  },
  'card.unclaimed_soon': byTime,
  async 'card.return_waiting'(sandbox) {
    const svcCardId = await newCard(sandbox)
    const path: ApiPath = `/api/v0/partner/svcCard/${svcCardId}`
    await asPartner(sandbox).call('PATCH', `${path}/status`, { status: 'BL', reason: 'lost' })
    await asPartner(sandbox).call('POST', `${path}/return`, { consentReference: 'trigger' })
    return `blocked and emptied ${svcCardId}`
  },
  'card.returned': byTime,
  async 'card_account.funded'(sandbox) {
    const { cardAccountId } = sandbox.incentivePartner
    const path: ApiPath = `/api/v0/partner/card-accounts/${cardAccountId}/funding-instructions`
    const { virtualAccountNumber } = await asPartner(sandbox).call<{ virtualAccountNumber: string }>(
      'GET',
      path,
    )
    const transfer = { virtualAccountNumber, amount: 1_000 }
    const { utr } = await asPartner(sandbox).call<{ utr: string }>(
      'POST',
      '/sandbox/bank/transfers',
      sandbox.override(transfer, 'remitterName', 'mode'),
    )
    return `transferred to ${cardAccountId} with ${utr}`
  },
  'card_account.withdrawn': async () => {
    throw new UsageError('An operator causes it: svc admin card-account withdraw')
  },
  'card_account.funding_reversed': byReversal,
  'card_account.withdrawal_reversed': byReversal,
  async 'card_account.low'(sandbox) {
    const { cardAccountId } = sandbox.incentivePartner
    const path: ApiPath = `/api/v0/partner/card-accounts/${cardAccountId}`
    const { balance } = await asPartner(sandbox).call<{ balance: number }>('GET', path)
    await asPartner(sandbox).call('PATCH', path, { lowBalance: balance })
    return `issued ${await newCard(sandbox)} from ${cardAccountId}`
  },
  async 'user.erased'(sandbox) {
    const { companyId } = sandbox.incentivePartner
    const path: ApiPath = '/api/v0/partner/users'
    const user = await asPartner(sandbox).call<{ userId: string }>('POST', path, {
      companyId,
      firstName: 'Asha',
    })
    await asPartner(sandbox).call('POST', `${path}/${user.userId}/erase`, {})
    return `erased ${user.userId}`
  },
  'card.return_reversed': async () => {
    throw new UsageError('An operator causes it: svc admin cards reverse-return')
  },
  ...COIN_TRIGGERS,
  async 'api_key.revoked'({ merchant: { merchantId } }) {
    const apiKeyId = await withInstallation(({ database, keyMaker }) =>
      database.operate(async (tx) => {
        const issued = await issueApiKey(tx, keyMaker, merchantId, 'made to be revoked')
        await revokeApiKey(tx, issued.apiKeyId)
        return issued.apiKeyId
      }),
    )
    return `revoked ${apiKeyId}`
  },
}

/**
 * Makes a real event of this type happen to a demo tenant of the sandbox; returns what was done. `overrides` replace fields
 * of the requests that have them; throws UsageError where none has a field.
 */
export async function triggerEvent(
  file: SandboxFile,
  type: string,
  overrides: Overrides = {},
): Promise<string> {
  if (!Object.hasOwn(TRIGGERS, type))
    throw new UsageError(`There is no event ${type}. There are: ${EVENT_TYPES.join(', ')}`)
  const unused = new Set(Object.keys(overrides))
  const override: Override = (request, ...extra) => {
    const fits = Object.entries(overrides).filter(
      ([name]) => Object.hasOwn(request, name) || extra.includes(name),
    )
    for (const [name] of fits) unused.delete(name)
    return { ...request, ...Object.fromEntries(fits) }
  }
  const done = await TRIGGERS[type as EventType]({ ...file, override })
  if (unused.size > 0)
    throw new UsageError(`${done}, but no request for ${type} has the field ${[...unused].join(', ')}`)
  return done
}
