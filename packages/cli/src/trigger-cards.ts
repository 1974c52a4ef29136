import type { EventType } from '@svc/contract/events'
import type { ApiPath } from './tenant-session.ts'
import {
  type Advice,
  AFTER_A_HOLD,
  AFTER_A_RETURN,
  AT_THE_END_OF_A_CARD,
  asPartner,
  type Sandbox,
  type Trigger,
  trigger,
  WHEN_UNCLAIMED,
} from './trigger.ts'
import {
  byTheNetwork,
  newCard,
  newReloadableCard,
  ORDER,
  type Sent,
  SPENDING,
  spend,
  VIRTUAL_ORDER,
} from './trigger-requests.ts'

const USED_CARD = [...VIRTUAL_ORDER, ...SPENDING]
const PROFILE = ['companyId', 'title', 'firstName', 'middleName', 'lastName', 'email', 'mobile', 'gender']
const RULE = [...VIRTUAL_ORDER, 'name']
const TRANSFER = ['amount', 'remitterName', 'remitterAccount', 'mode', 'utr']

const byReversal: Advice = { advice: 'An operator causes it: svc admin journal reverse' }
const APPROVED: Sent = { type: 'authorization', amount: 10, status: 'approved' }

const ofTheNetwork = (...messages: readonly Sent[]): Trigger =>
  trigger(USED_CARD, (sandbox) => byTheNetwork(sandbox, ...messages))

const LOAD = ['amount', 'referenceNumber', 'reason']

/** Moves money to a new card, or from it, under a reference of its own. */
const moving = (way: 'loads' | 'unloads'): Trigger =>
  trigger(LOAD, async (sandbox) => {
    const svcCardId = await newReloadableCard(sandbox)
    const path: ApiPath = `/api/v0/partner/svcCard/${svcCardId}/${way}`
    const request = { amount: 25, referenceNumber: `trigger-${svcCardId}` }
    await asPartner(sandbox).call('POST', path, sandbox.override(LOAD, request))
    return `${way === 'loads' ? 'loaded' : 'unloaded'} ${svcCardId}`
  })

type CardEvent = Extract<EventType, `card${string}` | `spend_rule.${string}` | `user.${string}`>

/** Of a new card, so that no other is declined. */
async function newRule(sandbox: Sandbox): Promise<string> {
  const svcCardId = await newCard(sandbox, VIRTUAL_ORDER)
  const rule = sandbox.override(['name'], { name: 'Up to 500 rupees a day', dayAmount: 500, svcCardId })
  const path: ApiPath = '/api/v0/partner/spend-rules'
  return (await asPartner(sandbox).call<{ spendRuleId: string }>('POST', path, rule)).spendRuleId
}

/** Of partners: cards, their accounts, rules and holders. */
export const CARD_TRIGGERS: Record<CardEvent, Trigger | Advice> = {
  'card.created': trigger(ORDER, async (sandbox) => `issued ${await newCard(sandbox)}`),
  'card.status_changed': trigger([...VIRTUAL_ORDER, 'reason'], async (sandbox) => {
    const svcCardId = await newCard(sandbox, VIRTUAL_ORDER)
    await asPartner(sandbox).call(
      'PATCH',
      `/api/v0/partner/svcCard/${svcCardId}/status`,
      sandbox.override(['reason'], { status: 'L' }),
    )
    return `locked ${svcCardId}`
  }),
  'card.loaded': moving('loads'),
  'card.unloaded': moving('unloads'),
  'card.spent': trigger(USED_CARD, async (sandbox) => `spent from ${await spend(sandbox)}`),
  'card.refunded': trigger(USED_CARD, async (sandbox) => {
    const svcCardId = await spend(sandbox)
    await asPartner(sandbox).call(
      'POST',
      `/sandbox/cards/${svcCardId}/refund`,
      sandbox.override(SPENDING, { amount: 25 }),
    )
    return `refunded to ${svcCardId}`
  }),
  'card.authorized': ofTheNetwork(APPROVED),
  'card.declined': ofTheNetwork({ type: 'authorization', amount: 1e6, status: 'declined' }),
  'card.captured': ofTheNetwork(APPROVED, { type: 'capture', amount: 10, status: 'recorded' }),
  'card.voided': ofTheNetwork(APPROVED, { type: 'void', status: 'recorded' }),
  'card.hold_expired': AFTER_A_HOLD,
  'card.expiring': AT_THE_END_OF_A_CARD,
  'card.expired': AT_THE_END_OF_A_CARD,
  'card.replaced': trigger([...ORDER, 'reason'], async (sandbox) => {
    const svcCardId = await newCard(sandbox)
    await asPartner(sandbox).call(
      'POST',
      `/api/v0/partner/svcCard/${svcCardId}/replace`,
      sandbox.override(['reason'], { reason: 'lost' }),
    )
    return `replaced ${svcCardId}`
  }),
  'card.unclaimed_soon': WHEN_UNCLAIMED,
  'card.return_waiting': trigger([...ORDER, 'reason', 'consentReference'], async (sandbox) => {
    const svcCardId = await newCard(sandbox)
    const path: ApiPath = `/api/v0/partner/svcCard/${svcCardId}`
    const status = sandbox.override(['reason'], { status: 'BL', reason: 'lost' })
    await asPartner(sandbox).call('PATCH', `${path}/status`, status)
    const consent = sandbox.override(['consentReference'], { consentReference: 'trigger' })
    await asPartner(sandbox).call('POST', `${path}/return`, consent)
    return `blocked and emptied ${svcCardId}`
  }),
  'card.returned': AFTER_A_RETURN,
  'card.return_reversed': { advice: 'An operator causes it: svc admin cards reverse-return' },
  'card_account.funded': trigger(TRANSFER, async (sandbox) => {
    const { cardAccountId } = sandbox.incentivePartner
    const path: ApiPath = `/api/v0/partner/card-accounts/${cardAccountId}/funding-instructions`
    const { virtualAccountNumber } = await asPartner(sandbox).call<{ virtualAccountNumber: string }>(
      'GET',
      path,
    )
    const transfer = { virtualAccountNumber, ...sandbox.override(TRANSFER, { amount: 1_000 }) }
    const { utr } = await asPartner(sandbox).call<{ utr: string }>(
      'POST',
      '/sandbox/bank/transfers',
      transfer,
    )
    return `transferred to ${cardAccountId} with ${utr}`
  }),
  'card_account.withdrawn': { advice: 'An operator causes it: svc admin card-account withdraw' },
  'card_account.funding_reversed': byReversal,
  'card_account.withdrawal_reversed': byReversal,
  'card_account.low': trigger(ORDER, async (sandbox) => {
    const { cardAccountId } = sandbox.incentivePartner
    const path: ApiPath = `/api/v0/partner/card-accounts/${cardAccountId}`
    const { balance } = await asPartner(sandbox).call<{ balance: number }>('GET', path)
    await asPartner(sandbox).call('PATCH', path, { lowBalance: balance })
    return `issued ${await newCard(sandbox)} from ${cardAccountId}`
  }),
  'spend_rule.created': trigger(RULE, async (sandbox) => `set ${await newRule(sandbox)}`),
  'spend_rule.removed': trigger(RULE, async (sandbox) => {
    const spendRuleId = await newRule(sandbox)
    await asPartner(sandbox).call('DELETE', `/api/v0/partner/spend-rules/${spendRuleId}`)
    return `removed ${spendRuleId}`
  }),
  'user.erased': trigger(PROFILE, async (sandbox) => {
    const { companyId } = sandbox.incentivePartner
    const path: ApiPath = '/api/v0/partner/users'
    const profile = sandbox.override(PROFILE, { companyId, firstName: 'Asha' })
    const user = await asPartner(sandbox).call<{ userId: string }>('POST', path, profile)
    await asPartner(sandbox).call('POST', `${path}/${user.userId}/erase`, {})
    return `erased ${user.userId}`
  }),
}
