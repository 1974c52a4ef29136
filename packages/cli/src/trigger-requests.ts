import { createSecretKey } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { type ApiPath, TenantSession } from './tenant-session.ts'
import { asPartner, requireStatus, type Sandbox } from './trigger.ts'

/** Of a QR code that is paid as the event needs it. */
export const CODE = [
  'qrName',
  'description',
  'customerName',
  'customerId',
  'customerEmail',
  'customerMobile',
  'customParams',
  'referenceNumber',
]
/** Of a QR code that gets no payment. */
export const UNPAID_CODE = [...CODE, 'expiry', 'amount', 'multipleUse', 'fixedAmount']
export const PAYMENT = ['amount', 'payerVpa', 'utr']
export const ORDER = [
  'companyId',
  'cardAccountId',
  'userId',
  'firstName',
  'lastName',
  'email',
  'mobile',
  'loadAmount',
  'physicalCard',
]
/** Of a card that is used at once, so that none is physical. */
export const VIRTUAL_ORDER = ORDER.filter((field) => field !== 'physicalCard')
export const SPENDING = ['amount', 'channel', 'merchantName']

export const asMerchant = ({ baseUrl, merchant }: SandboxFile) =>
  new TenantSession(baseUrl, { apiKey: merchant.apiKey })

export const newCode = (sandbox: Sandbox, fields: readonly string[], request: object = {}) =>
  asMerchant(sandbox).call<{ qrCodeId: string; upiUri: string }>(
    'POST',
    '/api/v0/qr-code',
    sandbox.override(fields, { qrName: 'Made by svc trigger', ...request }),
  )

interface Paid {
  readonly outcome: string
  readonly utr: string
  readonly payment?: { readonly paymentId: string; readonly status: string }
}

/** Pays the code; throws unless the payment gets one of these statuses, or `HELD` where its notice comes later. */
export async function pay(
  sandbox: Sandbox,
  code: { readonly qrCodeId: string } | { readonly upi: string },
  amount: number,
  ...statuses: readonly string[]
): Promise<Paid> {
  const request = { ...code, ...sandbox.override(PAYMENT, { amount }) }
  const paid = await asMerchant(sandbox).call<Paid>('POST', '/sandbox/upi/pay', request)
  requireStatus('The payment', paid.payment?.status ?? paid.outcome, ...statuses)
  return paid
}

export async function newCard(sandbox: Sandbox, fields = ORDER, given: object = {}): Promise<string> {
  const { companyId, cardAccountId, userId, sharedKey } = sandbox.incentivePartner
  const request = sandbox.override(fields, { companyId, cardAccountId, userId, ...given })
  const order = Buffer.from(JSON.stringify(request))
  const key = createSecretKey(Buffer.from(sharedKey.k, 'base64url'))
  const encrypted = await encrypt(order, { kid: sharedKey.kid, alg: 'A256KW', enc: 'A256GCM', key })
  return (await asPartner(sandbox).call<{ svcCardId: string }>('POST', '/api/v0/partner/svcCard', encrypted))
    .svcCardId
}

/** A new card of an account type that is loaded again, from a new card account with money. */
export async function newReloadableCard(sandbox: Sandbox): Promise<string> {
  const { companyId } = sandbox.incentivePartner
  const accounts: ApiPath = '/api/v0/partner/card-accounts'
  const { cardAccountId } = await asPartner(sandbox).call<{ cardAccountId: string }>('POST', accounts, {
    companyId,
    product: 'incentive',
    accountType: 'MEAL',
    binType: 'MEAL',
    cardProgramme: 'Meal cards',
    denomination: 100,
    unallocateFundAllowed: true,
  })
  const instructions: ApiPath = `${accounts}/${cardAccountId}/funding-instructions`
  const { virtualAccountNumber } = await asPartner(sandbox).call<{ virtualAccountNumber: string }>(
    'GET',
    instructions,
  )
  const transfer = { virtualAccountNumber, amount: 10_000 }
  await asPartner(sandbox).call('POST', '/sandbox/bank/transfers', transfer)
  return newCard(sandbox, [], { cardAccountId })
}

/** A new card, spent from. */
export async function spend(sandbox: Sandbox): Promise<string> {
  const svcCardId = await newCard(sandbox, VIRTUAL_ORDER)
  const request = { amount: 25, channel: 'online', merchantName: 'Trigger' }
  await asPartner(sandbox).call(
    'POST',
    `/sandbox/cards/${svcCardId}/spend`,
    sandbox.override(SPENDING, request),
  )
  return svcCardId
}

export async function payOut(sandbox: Sandbox, outcome: 'PAID' | 'FAILED'): Promise<string> {
  const { qrCodeId } = await newCode(sandbox, CODE, { multipleUse: true })
  await pay(sandbox, { qrCodeId }, 20, 'ACCEPTED')
  const { payoutId } = await asMerchant(sandbox).call<{ payoutId: string }>('POST', '/sandbox/payouts', {
    outcome,
  })
  return payoutId
}

interface NetworkMessage {
  readonly response: {
    readonly messageId: string
    readonly status: string
    readonly authorizationId?: string
  }
}

/** What the card network sends: the type, the status that it must get, and which fields may be replaced. */
export interface Sent {
  readonly type: 'authorization' | 'capture' | 'void'
  readonly amount?: number
  readonly status: 'approved' | 'declined' | 'recorded'
}

/** The card network sends messages for a new card; returns what came of the last one. */
export async function byTheNetwork(sandbox: Sandbox, ...messages: readonly Sent[]): Promise<string> {
  const path: ApiPath = `/sandbox/cards/${await newCard(sandbox, VIRTUAL_ORDER)}/messages`
  let last: NetworkMessage['response'] | undefined
  for (const { type, amount, status } of messages) {
    const { authorizationId } = last ?? {}
    const fields = amount === undefined ? [] : SPENDING
    const body = { type, authorizationId, ...sandbox.override(fields, { amount }) }
    const sent = await asPartner(sandbox).call<{ messages: NetworkMessage[] }>('POST', path, body)
    last = sent.messages.at(-1)?.response
    requireStatus(`The ${type}`, last?.status, status)
  }
  return `sent ${last?.messageId}`
}
