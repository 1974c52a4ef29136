import { EVENT_TYPES, EVENTS, type EventType } from '@svc/contract/events'
import { FundedCardAccount } from '@svc/core/cards/account/funded-event'
import { LowCardAccount } from '@svc/core/cards/account/low-balance'
import { CardLoadRecord } from '@svc/core/cards/card/card-load'
import { CardRecord } from '@svc/core/cards/card/card-record'
import { CardReplacement } from '@svc/core/cards/card/card-replacement'
import { CardReceipt } from '@svc/core/cards/card/card-use'
import { CardNotice } from '@svc/core/cards/end/card-end'
import { CardReturnRecord } from '@svc/core/cards/end/card-return'
import { CardHoldRecord } from '@svc/core/cards/rail/card-authorization'
import { CardMessageRecord } from '@svc/core/cards/rail/card-message'
import { SpendRuleRecord } from '@svc/core/cards/rules/spend-rule'
import { ErasedUser } from '@svc/core/cards/user/erase-user'
import { ActivationRecord, AllocationRecord } from '@svc/core/coins/allocation'
import { CoinConfigRecord } from '@svc/core/coins/coin-config'
import { VoidRecord } from '@svc/core/coins/coin-void'
import { RedemptionRecord } from '@svc/core/coins/redemption'
import { PaymentWithAdjustment } from '@svc/core/payments/adjustments/payment-adjustment'
import { DisputeRecord } from '@svc/core/payments/disputes/dispute'
import { TaxDocumentRecord } from '@svc/core/payments/fees/tax-document'
import { PaymentRecord, SettledPayment } from '@svc/core/payments/payment'
import { PayoutRecord } from '@svc/core/payments/payouts/payout'
import { PaymentWithRefund } from '@svc/core/payments/refunds/merchant-refund'
import { ClosedQrCode, QrCodeResponse } from '@svc/core/qr-codes/qr-code'
import { CredentialChange, MemberChange, MerchantChange } from '@svc/core/tenants/tenant-events'
import { EventResponse } from '@svc/core/webhooks/event'
import { type TSchema, Type } from 'typebox'
import { ComponentSchemas, refTo } from './http/openapi-schemas.ts'

const ExpiringCoins = Type.Object(
  {
    userId: Type.String(),
    amount: Type.Integer({ description: 'Coins that expire soon' }),
    allocations: Type.Array(
      Type.Object(
        {
          allocationId: Type.String(),
          amount: Type.Integer({ description: 'What remains of it' }),
          expiresOn: Type.String({ description: 'RFC 3339; first instant at which they are gone' }),
        },
        { additionalProperties: false },
      ),
    ),
    balance: Type.Integer({ description: 'The user’s active coins' }),
  },
  { title: 'ExpiringCoins', additionalProperties: false },
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

/** What `data` of each event holds: the record as the API returns it. */
export const EVENT_RECORDS: Record<EventType, TSchema> = {
  'qr_code.created': QrCodeResponse,
  'qr_code.credited': PaymentRecord,
  'qr_code.cancelled': ClosedQrCode,
  'qr_code.expired': QrCodeResponse,
  'payment.refund_pending': Type.Union([PaymentRecord, PaymentWithRefund]),
  'payment.refunded': Type.Union([PaymentRecord, PaymentWithRefund]),
  'payment.refund_failed': PaymentWithRefund,
  'payment.suspended': PaymentRecord,
  'payment.settled': SettledPayment,
  'payment.settlement_reversed': SettledPayment,
  'payment.adjusted': PaymentWithAdjustment,
  'payment.assigned': PaymentRecord,
  'payment.unassigned': PaymentRecord,
  'payment.disputed': DisputeRecord,
  'dispute.evidence_sent': DisputeRecord,
  'dispute.evidence_requested': DisputeRecord,
  'dispute.won': DisputeRecord,
  'dispute.lost': DisputeRecord,
  'payout.paid': PayoutRecord,
  'payout.failed': PayoutRecord,
  'tax_document.issued': TaxDocumentRecord,
  'card.created': CardRecord,
  'card.status_changed': CardRecord,
  'card.loaded': CardLoadRecord,
  'card.unloaded': CardLoadRecord,
  'card.spent': CardReceipt,
  'card.refunded': Type.Union([CardReceipt, CardMessageRecord]),
  'card.authorized': CardMessageRecord,
  'card.declined': CardMessageRecord,
  'card.captured': CardMessageRecord,
  'card.voided': CardMessageRecord,
  'card.hold_expired': CardHoldRecord,
  'card.expiring': CardNotice,
  'card.expired': CardNotice,
  'card.replaced': CardReplacement,
  'card.unclaimed_soon': CardNotice,
  'card.return_waiting': CardReturnRecord,
  'card.returned': CardReturnRecord,
  'card.return_reversed': CardReturnRecord,
  'card_account.funded': FundedCardAccount,
  'card_account.withdrawn': FundedCardAccount,
  'card_account.funding_reversed': FundedCardAccount,
  'card_account.withdrawal_reversed': FundedCardAccount,
  'card_account.low': LowCardAccount,
  'spend_rule.created': SpendRuleRecord,
  'spend_rule.removed': SpendRuleRecord,
  'user.erased': ErasedUser,
  'coins.allocated': AllocationRecord,
  'coins.pending': AllocationRecord,
  'coins.activated': ActivationRecord,
  'coins.voided': VoidRecord,
  'coins.redeemed': RedemptionRecord,
  'coins.expiring': ExpiringCoins,
  'coins.expired': ExpiredCoins,
  'coin_config.changed': CoinConfigRecord,
  'merchant.updated': MerchantChange,
  'credential.issued': CredentialChange,
  'credential.revoked': CredentialChange,
  'member.invited': MemberChange,
  'member.factor_reset': MemberChange,
  'api_key.revoked': RevokedApiKey,
}

/** `qr_code.created` → `QrCodeCreatedEvent`. */
const schemaName = (type: EventType): string =>
  `${type.replace(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase())}Event`

const schemas = new ComponentSchemas()
for (const type of EVENT_TYPES)
  schemas.add(
    Type.Object(
      { ...EventResponse.properties, type: Type.Literal(type), data: EVENT_RECORDS[type] },
      { title: schemaName(type), description: `${EVENTS[type].description}.` },
    ),
    'response',
  )

/** The components of events: one for each type, and `Event`, which is one of them by its `type`. */
export const EVENT_SCHEMAS: Readonly<Record<string, object>> = {
  ...(schemas.sorted as Record<string, object>),
  Event: {
    title: 'Event',
    description: 'An event, by its `type`. Ignore types that you do not know.',
    oneOf: EVENT_TYPES.map((type) => refTo('schemas', schemaName(type))),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(
        EVENT_TYPES.map((type) => [type, `#/components/schemas/${schemaName(type)}`]),
      ),
    },
  },
}

/** The `webhooks` of the OpenAPI document: what an endpoint receives, type by type. */
export const WEBHOOKS: Readonly<Record<string, object>> = Object.fromEntries(
  EVENT_TYPES.map((type) => [
    type,
    {
      post: {
        operationId: `on_${type.replace('.', '_')}`,
        tags: ['Webhooks'],
        summary: EVENTS[type].description,
        description: `Sent to each webhook endpoint that receives \`${type}\`. Verify the signature before you read the body.`,
        security: [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: refTo('schemas', schemaName(type)) } },
        },
        responses: {
          200: {
            description:
              'Received, as any 2xx. After any other status the event is sent again, except after 410',
          },
          410: { description: 'The service disables the endpoint' },
        },
      },
    },
  ]),
)

/** The names of the schemas of a record in the OpenAPI document: one, or those of each alternative. */
const namesOf = ({
  title,
  anyOf = [],
}: {
  title?: string
  anyOf?: readonly { title?: string }[]
}): string[] => [title, ...anyOf.map((each) => each.title)].flatMap((name) => name ?? [])

/** The event catalogue as a Markdown table, for the generated reference. */
export function eventTable(): string {
  const rows = EVENT_TYPES.map((type) => {
    const records = namesOf(EVENT_RECORDS[type]).map((name) => `\`${name}\``)
    return `| <a id="${type}"></a>\`${type}\` | ${EVENTS[type].description} | ${records.join(', or ')} |`
  })
  return ['| `type` | When | `data` |', '|---|---|---|', ...rows, ''].join('\n')
}
