import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPES, type EventType } from '@svc/contract/events'
import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { invariant } from '@svc/kernel/invariant'
import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { withInstallation } from './context.ts'
import { type Advice, type Override, type Overrides, type Sandbox, type Trigger, trigger } from './trigger.ts'
import { CARD_TRIGGERS } from './trigger-cards.ts'
import { COIN_TRIGGERS } from './trigger-coins.ts'
import { asMerchant, CODE, newCode, PAYMENT, pay, payOut, UNPAID_CODE } from './trigger-requests.ts'
import { UsageError } from './usage-error.ts'

export type { Overrides } from './trigger.ts'

const PAID_CODE = [...CODE, ...PAYMENT]

const byTheBank: Advice = {
  advice: 'A signed notice of the bank causes it: see “Disputes” in docs/guides/upi-rail.md',
}

/** A payment that its code does not accept: the code is of 10 rupees, whatever is paid. */
const payWrongly = trigger(PAID_CODE, async (sandbox) => {
  const { qrCodeId } = await newCode(sandbox, CODE, { fixedAmount: true, amount: 10 })
  const { utr } = await pay(sandbox, { qrCodeId }, 11, 'REFUND_PENDING', 'REFUNDED', 'HELD')
  return `paid a wrong amount to ${qrCodeId} with ${utr}`
})

/** Of merchants. */
const MERCHANT_TRIGGERS = {
  'qr_code.created': trigger(
    UNPAID_CODE,
    async (sandbox) => `made ${(await newCode(sandbox, UNPAID_CODE)).qrCodeId}`,
  ),
  'qr_code.credited': trigger(PAID_CODE, async (sandbox) => {
    const { qrCodeId } = await newCode(sandbox, CODE, { multipleUse: true })
    return `paid ${qrCodeId} with ${(await pay(sandbox, { qrCodeId }, 10, 'ACCEPTED', 'HELD')).utr}`
  }),
  'qr_code.cancelled': trigger(UNPAID_CODE, async (sandbox) => {
    const { qrCodeId } = await newCode(sandbox, UNPAID_CODE)
    await asMerchant(sandbox).call('PATCH', `/api/v0/qr-code/${qrCodeId}/cancel`, {})
    return `cancelled ${qrCodeId}`
  }),
  'qr_code.expired': trigger(CODE, async (sandbox) => {
    const { qrCodeId } = await newCode(sandbox, CODE, { expiry: new Date(Date.now() + 2_000).toISOString() })
    await sleep(2_000)
    return `${qrCodeId} expires now`
  }),
  'payment.refund_pending': payWrongly,
  'payment.refunded': payWrongly,
  'payment.refund_failed': trigger([...PAID_CODE, 'reason'], async (sandbox) => {
    const { qrCodeId } = await newCode(sandbox, CODE, { multipleUse: true })
    const { payment } = await pay(sandbox, { qrCodeId }, 20, 'ACCEPTED')
    const refund = { amount: 10.95, referenceNumber: randomUUID() }
    await asMerchant(sandbox).call(
      'POST',
      `/api/v0/payments/${payment?.paymentId}/refunds`,
      sandbox.override(['referenceNumber', 'reason'], refund),
    )
    return `refunding ${payment?.paymentId}, which fails within seconds`
  }),
  'payment.suspended': trigger(PAID_CODE, async (sandbox) => {
    const { upiUri } = await newCode(sandbox, CODE)
    const upi = upiUri.replace(/&tr=[^&]*/, '&tr=unknown')
    return `paid to no code with ${(await pay(sandbox, { upi }, 10, 'SUSPENSE', 'HELD')).utr}`
  }),
  'payment.settled': { advice: 'A settlement file of the bank causes it: svc admin settlement import' },
  'payment.settlement_reversed': {
    advice: 'An operator takes transfers of the bank back: svc admin settlement reverse',
  },
  'payment.adjusted': { advice: 'An operator corrects payments: svc admin payments adjust' },
  'payment.assigned': { advice: 'An operator assigns credits: svc admin suspense assign' },
  'payment.unassigned': { advice: 'An operator takes assignments back: svc admin suspense unassign' },
  'payment.disputed': byTheBank,
  'dispute.evidence_sent': byTheBank,
  'dispute.evidence_requested': {
    advice: 'An operator asks for more evidence: svc admin dispute ask',
  },
  'dispute.won': byTheBank,
  'dispute.lost': byTheBank,
  'payout.paid': trigger(PAID_CODE, async (sandbox) => `paid out ${await payOut(sandbox, 'PAID')}`),
  'payout.failed': trigger(
    PAID_CODE,
    async (sandbox) => `could not pay out ${await payOut(sandbox, 'FAILED')}`,
  ),
  'tax_document.issued': { advice: 'Invoices of a month that is over cause it: svc admin tax issue' },
  'merchant.updated': { advice: 'An operator changes merchants: svc admin payout fee, or the console' },
  'credential.issued': { advice: 'An operator issues credentials: svc admin key issue' },
  'credential.revoked': { advice: 'An operator revokes credentials: svc admin key revoke' },
  'member.invited': { advice: 'An operator invites members: svc admin member invite' },
  'member.factor_reset': {
    advice: 'An operator resets second factors: svc admin member reset-second-factor',
  },
  'api_key.revoked': trigger([], async ({ merchant: { merchantId } }) => {
    const apiKeyId = await withInstallation(({ database, keyMaker }) =>
      database.operate(async (tx) => {
        const issued = await issueApiKey(tx, keyMaker, merchantId, 'made to be revoked')
        await revokeApiKey(tx, issued.apiKeyId)
        return issued.apiKeyId
      }),
    )
    return `revoked ${apiKeyId}`
  }),
} as const satisfies Partial<Record<EventType, Trigger | Advice>>

/** Of each event: what causes it. */
export const TRIGGERS: Readonly<Record<EventType, Trigger | Advice>> = {
  ...MERCHANT_TRIGGERS,
  ...CARD_TRIGGERS,
  ...COIN_TRIGGERS,
}

/**
 * Makes a real event of this type happen to a demo tenant of the sandbox; returns what was done. `overrides` replace fields
 * of the requests that cause it; throws UsageError, and sends nothing, where none has a field.
 */
export async function triggerEvent(
  file: SandboxFile,
  type: string,
  overrides: Overrides = {},
): Promise<string> {
  if (!Object.hasOwn(TRIGGERS, type))
    throw new UsageError(`There is no event ${type}. There are: ${EVENT_TYPES.join(', ')}`)
  const found = TRIGGERS[type as EventType]
  if ('advice' in found) throw new UsageError(found.advice)
  const unknown = Object.keys(overrides).filter((name) => !found.fields.includes(name))
  if (unknown.length > 0)
    throw new UsageError(
      `No request for ${type} has the field ${unknown.join(', ')}. Fields: ${found.fields.join(', ') || 'none'}`,
    )
  const offered = new Set<string>()
  const override: Override = (fields, request) => {
    for (const field of fields) offered.add(field)
    const fits = Object.entries(overrides).filter(([name]) => fields.includes(name))
    return { ...request, ...Object.fromEntries(fits) }
  }
  const done = await found.cause({ ...file, override } satisfies Sandbox)
  invariant(
    found.fields.every((field) => offered.has(field)) && offered.size === new Set(found.fields).size,
    `the fields of ${type} are not those of its requests: ${[...offered].join(', ')}`,
  )
  return done
}
