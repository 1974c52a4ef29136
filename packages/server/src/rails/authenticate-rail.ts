import { fail } from '@svc/contract/errors'
import { OWN_ADAPTER, type RailAdapter } from '@svc/contract/rail-adapters'
import { noticeReceiptToWire, type RailNotice } from '@svc/core/rails/rail-notice'
import { signedFields, signedText } from '@svc/core/rails/stated-fields'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isDigestOf, signedAtMs, TOLERANCE_MS } from '../http/notice-signature.ts'
import { type Caller, type Services, succeed } from '../http/operation.ts'
import { RejectedNotices } from '../http/rejected-notices.ts'

/** Each rail: the setting of its keys, the sandbox's own key, and whether banks may write and sign in other ways. */
const RAILS = {
  upi: { setting: 'UPI_RAIL_KEYS', purpose: 'upi_rail', acceptsAdapters: true },
  bank: { setting: 'BANK_RAIL_KEYS', purpose: 'bank_rail', acceptsAdapters: true },
  cards: { setting: 'CARD_RAIL_KEYS', purpose: 'card_rail', acceptsAdapters: false },
} as const
type Rail = keyof typeof RAILS

/** Header of a signed notice, for the reference. */
export const SIGNATURE = {
  'x-rail-signature': 'Signature of the notice: `t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`',
}

/** The query of a rail that takes adapters: for the reference, since a notice is not rejected for its form. */
export const BANK_QUERY = Type.Object({
  bank: Type.Optional(
    Type.String({
      description: 'Name of an adapter of RAIL_ADAPTERS. A notice of any other bank goes to quarantine',
    }),
  ),
})

/** Keys with which a rail may sign: the operator's, or the sandbox's own. The first one signs. */
export function railKeys({ config, keyring }: Services, rail: Rail): string[] {
  const { setting, purpose } = RAILS[rail]
  const given = config[setting]
  if (given) return given.map((key) => key.reveal())
  return config.SVC_MODE === 'sandbox' ? [keyring.newest(purpose).bytes.toString('base64url')] : []
}

/** The adapter of the bank that the query names; `undefined` where the settings know no such bank, or it names two. */
export function adapterOf({ config }: Pick<Services, 'config'>, query: unknown): RailAdapter | undefined {
  const { bank } = query as { readonly bank?: unknown }
  if (bank === undefined) return OWN_ADAPTER
  return typeof bank === 'string' ? config.RAIL_ADAPTERS.get(bank) : undefined
}

/** The response to a notice that is kept: 202 while it waits for an operator, 200 where the settings ignore it. */
export const noticeReply = (kept: RailNotice) => ({
  status: kept.status === 'IGNORED' ? 200 : 202,
  body: succeed(noticeReceiptToWire(kept)),
})

/** Whether a notice was signed a few minutes ago at most; one without a time is. */
export const isFresh = ({ signedAtMs: at }: Caller, nowMs: number): boolean =>
  at === undefined || Math.abs(nowMs - at) <= TOLERANCE_MS

/**
 * Decisions Q11 and R1: notices are signed over their raw body, so this runs after the body was read. How old the
 * signature is rejects nothing: a repeat changes nothing, and a bank that was down reports late.
 */
export function railAuthenticator(services: Services, rail: Rail) {
  const keys = railKeys(services, rail)
  const rejected = new RejectedNotices(services)
  const authenticate = ({ headers, query, rawBody }: FastifyRequest): Caller => {
    const adapter = (RAILS[rail].acceptsAdapters && adapterOf(services, query)) || OWN_ADAPTER
    const body = rawBody ?? new Uint8Array()
    const { signature, signedAt, isSigned } = check(adapter, headers, body, keys)
    // What it sends belongs to no tenant yet.
    const caller = { tenantId: PLATFORM_TENANT }
    if (isSigned) return { ...caller, ...(signedAt !== undefined && { signedAtMs: signedAt }) }
    rejected.add(body, signature, keys.length)
    return fail('invalid_signature')
  }
  return { authenticate }
}

interface Checked {
  /** As it was sent, for the log of rejected notices. */
  readonly signature: string | string[] | undefined
  readonly isSigned: boolean
  /** In milliseconds, where the scheme signs a time. */
  readonly signedAt?: number | undefined
}

/** Checks a signature as the bank of the adapter makes it (decision Q11). */
function check(
  { body: form, signature }: RailAdapter,
  headers: FastifyRequest['headers'],
  body: Uint8Array,
  keys: readonly string[],
): Checked {
  if (signature.scheme === 'time-and-body') {
    const given = headers[signature.header]
    const signedAt = typeof given === 'string' ? signedAtMs(body, given, keys) : undefined
    return { signature: given, isSigned: signedAt !== undefined, signedAt }
  }
  const { digest, field, header, over, until } = signature
  const fields = signedFields(body, form)
  const given = header === undefined ? signedText(fields, field ?? '') : headers[header]
  if (typeof given !== 'string') return { signature: given, isSigned: false }
  const [digestText = ''] = until === undefined ? [given] : given.split(until)
  const isSigned = isDigestOf(
    (secret) => fill(over, { body, headers, fields, secret }),
    digestText,
    keys,
    digest,
  )
  return { signature: given, isSigned }
}

interface Parts {
  readonly body: Uint8Array
  readonly headers: FastifyRequest['headers']
  readonly fields: ReturnType<typeof signedFields>
  readonly secret: string
}

/** What a template of an adapter says was signed. */
function fill(template: string, { body, headers, fields, secret }: Parts): Uint8Array {
  const parts = template.split(/(\{[^{}]+\})/).map((part) => {
    const [, kind, name = ''] = /^\{(body|secret|header|field)(?::([^{}]+))?\}$/.exec(part) ?? []
    if (kind === 'body') return body
    if (kind === 'secret') return Buffer.from(secret)
    if (kind === 'field') return Buffer.from(signedText(fields, name))
    return Buffer.from(kind === 'header' ? String(headers[name.toLowerCase()] ?? '') : part)
  })
  return Buffer.concat(parts)
}
