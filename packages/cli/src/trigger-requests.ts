import { createSecretKey } from 'node:crypto'
import { encrypt } from '@svc/jwe/jwe'
import type { SandboxFile } from '@svc/server/sandbox/demo'
import { type ApiPath, TenantSession } from './tenant-session.ts'
import { asPartner, type Sandbox } from './trigger.ts'

const CODE_FIELDS = [
  'description',
  'customerName',
  'customerId',
  'customerEmail',
  'customerMobile',
  'customParams',
  'referenceNumber',
  'expiry',
]
const ORDER_FIELDS = ['firstName', 'lastName', 'email', 'mobile', 'loadAmount', 'physicalCard']

export const asMerchant = ({ baseUrl, merchant }: SandboxFile) =>
  new TenantSession(baseUrl, { apiKey: merchant.apiKey })

export const newCode = (sandbox: Sandbox, request: object = {}) =>
  asMerchant(sandbox).call<{ qrCodeId: string; upiUri: string }>(
    'POST',
    '/api/v0/qr-code',
    sandbox.override(
      {
        qrName: 'Made by svc trigger',
        ...request,
      },
      ...CODE_FIELDS,
    ),
  )

export const pay = (sandbox: Sandbox, request: object) =>
  asMerchant(sandbox).call<{ outcome: string; utr: string; payment?: { paymentId: string } }>(
    'POST',
    '/sandbox/upi/pay',
    sandbox.override(request, 'payerVpa', 'payerName'),
  )

export async function newCard(sandbox: Sandbox): Promise<string> {
  const { companyId, cardAccountId, userId, sharedKey } = sandbox.incentivePartner
  const order = Buffer.from(
    JSON.stringify(sandbox.override({ companyId, cardAccountId, userId }, ...ORDER_FIELDS)),
  )
  const key = createSecretKey(Buffer.from(sharedKey.k, 'base64url'))
  const encrypted = await encrypt(order, { kid: sharedKey.kid, alg: 'A256KW', enc: 'A256GCM', key })
  return (await asPartner(sandbox).call<{ svcCardId: string }>('POST', '/api/v0/partner/svcCard', encrypted))
    .svcCardId
}

export async function spend(sandbox: Sandbox): Promise<string> {
  const svcCardId = await newCard(sandbox)
  const request = { amount: 25, channel: 'online', merchantName: 'Trigger' }
  await asPartner(sandbox).call('POST', `/sandbox/cards/${svcCardId}/spend`, sandbox.override(request))
  return svcCardId
}

export async function payOut(sandbox: Sandbox, outcome: 'PAID' | 'FAILED'): Promise<string> {
  const { qrCodeId } = await newCode(sandbox, { multipleUse: true })
  await pay(sandbox, { qrCodeId, amount: 20 })
  const { payoutId } = await asMerchant(sandbox).call<{ payoutId: string }>('POST', '/sandbox/payouts', {
    outcome,
  })
  return payoutId
}

interface NetworkMessage {
  readonly response: { readonly messageId: string; readonly authorizationId?: string }
}

/** The card network sends messages for a new card; returns what came of the last one. */
export async function byTheNetwork(
  sandbox: Sandbox,
  ...messages: readonly ((before: string | undefined) => object)[]
): Promise<string> {
  const path: ApiPath = `/sandbox/cards/${await newCard(sandbox)}/messages`
  let last: NetworkMessage['response'] | undefined
  for (const message of messages) {
    const body = message(last?.authorizationId)
    const sent = await asPartner(sandbox).call<{ messages: NetworkMessage[] }>('POST', path, body)
    last = sent.messages.at(-1)?.response
  }
  return `sent ${last?.messageId}`
}
