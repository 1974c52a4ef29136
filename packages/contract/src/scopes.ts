/** What a partner's token may be limited to (RFC 6749 section 3.3, decision A7). Every operation for partners needs one. */
export const SCOPES = {
  'cards:read': 'Get and search gift cards, their history and bulk jobs',
  'cards:write': 'Issue, activate, lock and flag gift cards',
  'coins:read': 'Read coin configurations, balances and histories',
  'coins:write': 'Change coin configurations, award and redeem coins',
  'events:read': 'Read the event feed',
  'requests:read': 'Read your own requests in the request log',
  'webhooks:read': 'Read webhook endpoints and delivery attempts',
  'webhooks:write': 'Change webhook endpoints, send events again',
} as const satisfies Record<`${string}:${'read' | 'write'}`, string>

export type Scope = keyof typeof SCOPES

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text)

const { 'cards:read': _, 'cards:write': __, 'coins:write': ___, ...SHARED_SCOPES } = SCOPES

/**
 * What an API key of a merchant may be limited to (decision A16). Tokens of merchants name no scope: those of a key
 * without limits call every operation, which the specification shows.
 */
export const MERCHANT_SCOPES = {
  'qr_codes:read': 'Get and search QR codes',
  'qr_codes:write': 'Create and cancel QR codes',
  'payments:read': 'Read payments and refunds',
  'refunds:write': 'Refund payments',
  'disputes:read': 'Read disputes',
  'disputes:write': 'Submit evidence for disputes, or accept them',
  'payouts:read': 'Read payouts and their statements',
  ...SHARED_SCOPES,
} as const satisfies Record<`${string}:${'read' | 'write'}`, string>

export type MerchantScope = keyof typeof MERCHANT_SCOPES

/** What an operation needs: of a partner's token, or of a merchant's whose API key is limited. */
export type AnyScope = Scope | MerchantScope

export const ALL_SCOPES = [
  ...new Set([...Object.keys(SCOPES), ...Object.keys(MERCHANT_SCOPES)]),
] as AnyScope[]

/** The scopes of one kind of tenant. */
export const scopesOf = (kind: 'merchant' | 'partner'): readonly AnyScope[] =>
  Object.keys(kind === 'merchant' ? MERCHANT_SCOPES : SCOPES) as AnyScope[]
