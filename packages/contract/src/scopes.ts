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
