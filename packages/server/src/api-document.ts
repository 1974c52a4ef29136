import type { Config } from '@svc/contract/config'
import { VERSION } from '@svc/platform/package'
import { EVENT_SCHEMAS, WEBHOOKS } from './event-records.ts'
import { type About, clientCredentials } from './http/openapi.ts'
import type { Json } from './http/openapi-schemas.ts'
import { HEALTH } from './http/probes.ts'

const DESCRIPTION = `Merchants get tokens and run UPI QR codes. Card partners issue gift cards with encrypted requests and search them. Rewards partners search the cards of employees and run coin configurations. Everyone receives events, by polling, streaming or webhooks.

**Errors.** Every error of every operation has the same envelope: \`payload\` and \`errorResponse.errorMessage\` contain the JSON text \`{"error","error_description"}\`. Decide by \`error\`, and quote \`errorResponse.requestId\` (also in \`x-request-id\`) when you ask for help. Send \`Accept: application/problem+json\` to receive RFC 9457 problem details instead, with each invalid field in \`errors\`. [All error codes](/docs/errors). [Guides](/docs/guides).

**Retries.** Every write accepts an \`Idempotency-Key\`: a repeat with the same key and request returns the first response.

**Lists.** A page has up to \`limit\` records. When there are more, \`next\` is present: send it as \`after\` to get the next page.

**New fields.** Responses and events may get new fields at any time. Ignore fields that you do not know.`

/** The schemes by which callers authenticate. */
const securitySchemes = (publicUrl: string) => ({
  merchant: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The token of a merchant, from `POST /api/v0/merchant/token`. An API key can be limited to scopes: `x-scope` names the one that an operation needs.',
  },
  partner: clientCredentials(
    `${publicUrl}/oauth/token`,
    'The token of a partner, by OAuth 2.0 client credentials. The operations of cards also need the header `partnerId`.',
  ),
  client: {
    type: 'http',
    scheme: 'basic',
    description: 'Client id and client secret of a partner (`client_secret_basic`, RFC 6749 section 2.3.1).',
  },
  rail: {
    type: 'apiKey',
    in: 'header',
    name: 'x-rail-signature',
    description: 'HMAC-SHA-256 over the time and the raw body, `t=<seconds>,v1=<hex>`.',
  },
})

const partner = (scopes: readonly string[]) => [{ partner: scopes }]

/** What the OpenAPI document of the API has besides its operations. */
export const API_DOCUMENT: About = {
  title: 'svc',
  version: VERSION,
  description: DESCRIPTION,
  securitySchemes,
  security: {
    partner,
    partnerWithId: partner,
    partnerSession: partner,
    // Only OAuth schemes list scopes.
    merchant: () => [{ merchant: [] }],
    // Signed alike, each with keys of its own.
    bankRail: () => [{ rail: [] }],
    cardRail: () => [{ rail: [] }],
    tenant: (scopes) => [{ merchant: [] }, { partner: scopes }],
  },
  tags: {
    Authentication: 'Exchange an API key or client credentials for a token, and verify tokens.',
    Interpretation: 'How this server reads the specification where it is silent.',
    'QR codes': 'Create, read, search and cancel UPI QR codes, and list their payments. For merchants.',
    Disputes: 'Payments that payers dispute. For merchants.',
    Payouts:
      'What is paid out to the merchant: payments less refunds, disputes, fees and tax. For merchants.',
    Cards: 'Issue gift cards one by one or in bulk, search and change them. For card partners.',
    Coins: 'Configure which events earn coins, award and redeem coins, read balances. For rewards partners.',
    Events: 'Poll or stream the event feed. For merchants and partners.',
    Requests: 'Read your own requests as the service logged them. For merchants and partners.',
    Webhooks: 'Register endpoints that receive events, and send events again. For merchants and partners.',
    'UPI rail': 'Signed notices of the bank: credits, refunds and disputes.',
    'Bank rail': 'Signed notices of the bank: transfers to the virtual accounts of card accounts.',
    'Card rail': 'Signed messages of the card network: authorisations, captures, voids, refunds and advices.',
    Sandbox: 'Simulated payers, bank and card terminal. In sandbox mode only.',
    [HEALTH]: 'For load balancers and monitoring.',
  },
  webhooks: WEBHOOKS,
  schemas: EVENT_SCHEMAS,
}

const WHOLE_AMOUNTS = new Set(['otbBalance', 'accountBalance', 'lastAllocatedAmount'])

/** With `CARD_AMOUNTS=exact` the integers of a card record are numbers (decision C8). */
const withExactAmounts = (document: Json): Json =>
  JSON.parse(
    JSON.stringify(document, (name, value: Json) =>
      WHOLE_AMOUNTS.has(name) && value?.['type'] === 'integer'
        ? { ...value, type: 'number', description: 'Rupees with their paise' }
        : value,
    ),
  ) as Json

const ACCESS_KEY_ALONE: Pick<About, 'accessKeyAlone' | 'securitySchemes'> = {
  accessKeyAlone: [{ accessKey: [] }],
  securitySchemes: (publicUrl) => ({
    ...securitySchemes(publicUrl),
    accessKey: {
      type: 'apiKey',
      in: 'header',
      name: 'merchantAccessKey',
      description: 'The merchant’s access key, without a token. It is not secret.',
    },
  }),
}

/** The document of an installation: settings decide what authorises a cancellation (decision A6), and which amounts cards show. */
export const apiDocument = (config: Pick<Config, 'ACCESS_KEY_ALONE' | 'CARD_AMOUNTS'>): About => ({
  ...API_DOCUMENT,
  ...(config.ACCESS_KEY_ALONE === 'accept' && ACCESS_KEY_ALONE),
  ...(config.CARD_AMOUNTS === 'exact' && { revise: withExactAmounts }),
})
