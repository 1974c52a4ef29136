import { type TSchema, Type } from 'typebox'
import { CardRecord } from './cards/card-record.ts'
import { CardReceipt } from './cards/card-use.ts'
import { AllocationRecord } from './coins/allocation.ts'
import { CoinConfigRecord } from './coins/coin-config.ts'
import { RedemptionRecord } from './coins/redeem-coins.ts'
import { EVENT_TYPES, EVENTS, type EventType } from './events.ts'
import { PaymentResponse } from './qr-codes/payment.ts'
import { QrCodeResponse } from './qr-codes/qr-code.ts'
import { EventResponse } from './webhooks/event.ts'

const Credit = Type.Object(
  {
    qrCodeId: Type.Optional(Type.String({ description: 'Absent when the credit fitted no code' })),
    ...PaymentResponse.properties,
  },
  { title: 'Credit', additionalProperties: false },
)

const ExpiredCoins = Type.Object(
  {
    userId: Type.String(),
    amount: Type.Integer({ description: 'Coins that expired' }),
    allocations: Type.Array(
      Type.Object({ allocationId: Type.String(), amount: Type.Integer() }, { additionalProperties: false }),
    ),
    balance: Type.Integer({ description: 'The user’s active coins right after it' }),
  },
  { title: 'ExpiredCoins', additionalProperties: false },
)

const RevokedApiKey = Type.Object(
  {
    apiKeyId: Type.String(),
    name: Type.String(),
    prefix: Type.String(),
    createdOn: Type.String({ description: 'RFC 3339' }),
    revokedOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'RevokedApiKey', additionalProperties: false },
)

/** What `data` of each event holds: the record as the API answers it. */
const EVENT_RECORDS: Record<EventType, TSchema> = {
  'qr_code.created': QrCodeResponse,
  'qr_code.credited': Credit,
  'qr_code.payment_refunded': Credit,
  'qr_code.cancelled': QrCodeResponse,
  'qr_code.expired': QrCodeResponse,
  'card.created': CardRecord,
  'card.status_changed': CardRecord,
  'card.spent': CardReceipt,
  'card.refunded': CardReceipt,
  'coins.allocated': AllocationRecord,
  'coins.redeemed': RedemptionRecord,
  'coins.expired': ExpiredCoins,
  'coin_config.changed': CoinConfigRecord,
  'api_key.revoked': RevokedApiKey,
}

/** The `webhooks` of the OpenAPI document: what an endpoint is sent, type by type. */
export const WEBHOOKS: Readonly<Record<string, object>> = Object.fromEntries(
  EVENT_TYPES.map((type) => [
    type,
    {
      post: {
        operationId: `on_${type.replace('.', '_')}`,
        tags: ['Webhooks'],
        summary: EVENTS[type].description,
        security: [],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: Type.Object(
                { ...EventResponse.properties, type: Type.Literal(type), data: EVENT_RECORDS[type] },
                { additionalProperties: false },
              ),
            },
          },
        },
        responses: {
          200: { description: 'Taken, as any 2xx. Everything else is tried again, but for 410' },
          410: { description: 'The endpoint is disabled' },
        },
      },
    },
  ]),
)
