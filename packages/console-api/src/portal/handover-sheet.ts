import { kindOfTenant } from '@svc/core/tenants/tenant'
import { Type } from 'typebox'
import { maybe, record, text } from '../console-schema.ts'
import { IssuedRecord, issuedToWire } from '../faces/credential-records.ts'
import type { HandedOver } from './handover-store.ts'

const SharedKeyRecord = record('HandedSharedKey', {
  kty: text(),
  kid: text(),
  alg: text(),
  enc: text(),
  k: text('The secret, base64url; shown here and never again'),
})

/** Everything that a program of the tenant needs, on one page that is shown once. */
export const HandoverSheet = record('HandoverSheet', {
  tenantId: text('Of a partner: what its requests send as `partnerId`'),
  kind: Type.Enum(['merchant', 'partner']),
  accessKey: maybe('Of a merchant: what its requests send as `merchantAccessKey`; no secret'),
  baseUrl: text(),
  tokenUrl: text('Where a program gets its access token'),
  credential: IssuedRecord,
  sharedKey: Type.Optional(SharedKeyRecord),
  guides: Type.Array(record('Guide', { title: text(), url: text() })),
})

const GUIDES = {
  partner: [
    ['Encrypt a request', '/docs/guides/encrypt-a-request'],
    ['Errors and retries', '/docs/guides/errors-and-retries'],
  ],
  merchant: [
    ['Your first token and QR code', '/docs/tutorial/first-token-and-qr-code'],
    ['Errors and retries', '/docs/guides/errors-and-retries'],
  ],
} as const
const TOKEN = { partner: '/oauth/token', merchant: '/api/v0/merchant/token' } as const

interface Receiver {
  readonly tenantId: string
  /** Of a merchant. */
  readonly accessKey: string | undefined
}

export function handoverSheet(
  baseUrl: string,
  { tenantId, accessKey, credential, sharedKey }: HandedOver & Receiver,
) {
  const kind = kindOfTenant(tenantId)
  return {
    tenantId,
    kind,
    accessKey,
    baseUrl,
    tokenUrl: `${baseUrl}${TOKEN[kind]}`,
    credential: issuedToWire(credential),
    sharedKey: sharedKey && { ...sharedKey, k: sharedKey.k.reveal() },
    guides: GUIDES[kind].map(([title, path]) => ({ title, url: `${baseUrl}${path}` })),
  }
}
