/** The tenant of credits and card exceptions that fit no merchant or partner. It has no page. */
export const PLATFORM_TENANT = 'house'

/** Kinds of objects that have a page: their names and paths. */
const OBJECTS = {
  request: ['Request', '/requests/'],
  card: ['Card', '/cards/'],
  qrCode: ['QR code', '/qr-codes/'],
  payment: ['Payment', '/payments/'],
  refund: ['Refund', '/refunds/'],
  dispute: ['Dispute', '/disputes/'],
  payout: ['Payout', '/payouts/'],
  settlement: ['Settlement', '/settlements/'],
  cardException: ['Card exception', '/card-exceptions/'],
  notice: ['Bank notice', '/notices/'],
  merchant: ['Merchant', '/merchants/'],
  partner: ['Partner', '/partners/'],
  company: ['Company', '/companies/'],
  cardAccount: ['Card account', '/card-accounts/'],
  user: ['Holder', '/users/'],
  coinConfig: ['Coin configuration', '/coins/'],
  ledgerAccount: ['Ledger account', '/ledger/accounts/'],
  journal: ['Journal', '/ledger/journals/'],
  webhookEndpoint: ['Webhook endpoint', '/webhooks/'],
} as const satisfies Record<string, readonly [string, string]>

export type Kind = keyof typeof OBJECTS

export const isKind = (text: string): text is Kind => Object.hasOwn(OBJECTS, text)
export const kindLabel = (kind: string): string => (isKind(kind) ? OBJECTS[kind][0] : 'Other')
export const pathOf = (kind: Kind, id: string): string => OBJECTS[kind][1] + encodeURIComponent(id)

const PREFIXES: Readonly<Record<string, Kind>> = {
  req: 'request',
  card: 'card',
  qr: 'qrCode',
  pay: 'payment',
  rfd: 'refund',
  dsp: 'dispute',
  pyo: 'payout',
  stb: 'settlement',
  cex: 'cardException',
  rnt: 'notice',
  jrn: 'journal',
  mer: 'merchant',
  par: 'partner',
  com: 'company',
  acc: 'cardAccount',
  usr: 'user',
  ccf: 'coinConfig',
  whe: 'webhookEndpoint',
}

/** What an id names, by its prefix; `undefined` for those that have no page. */
export const kindOf = (id: string): Kind | undefined =>
  id.includes(':') ? 'ledgerAccount' : PREFIXES[id.slice(0, id.indexOf('_'))]

/** `card_01m7yx4bkmg14r836z8c4fn453` as `card_…4fn453`, for where there is little room. */
export const shortId = (id: string): string =>
  id.length > 18 && id.includes('_') ? `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-6)}` : id
