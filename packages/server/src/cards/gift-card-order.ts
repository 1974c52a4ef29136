import { EMAIL_CHARS_MAX, EMAIL_PATTERN, MOBILE_PATTERN } from '@svc/contract/contact-fields'
import type { GiftCardOrder } from '@svc/core/cards/card/gift-card-order'
import { paise } from '@svc/kernel/money'
import { type Static, Type } from 'typebox'

const free = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const name = free(100)
const address = free(255)

const DELIVERY = [
  'deliveryAddress',
  'deliveryCity',
  'deliveryState',
  'deliveryCountry',
  'deliveryPincode',
] as const

/** A rule of two fields: in the schema, so that it is reported together with the fields that break their own (decision F4). */
export const DELIVERY_RULE = {
  if: { type: 'object', properties: { physicalDeliveryAddressFlag: { not: { const: true } } } },
  else: {
    type: 'object',
    properties: Object.fromEntries(DELIVERY.map((part) => [part, { type: 'string', minLength: 1 }])),
    required: [...DELIVERY],
    'x-rule': 'is required when physicalDeliveryAddressFlag is true',
  },
}

/** Spec section 4.3, and `loadAmount` (decision C6). What is encrypted in the request. */
export const GiftCardRequest = Type.Object(
  {
    // Ids of any length: one that cannot be ours is a missing one (decision A12).
    userId: Type.Optional(Type.String({ description: 'Id of a user created in the company' })),
    companyId: Type.String({ description: 'Id of the company' }),
    cardAccountId: Type.String({ description: 'Id of the account under the company' }),
    email: Type.Optional(
      Type.String({
        maxLength: EMAIL_CHARS_MAX,
        pattern: EMAIL_PATTERN,
        'x-rule': 'must be an e-mail address',
      }),
    ),
    mobile: Type.Optional(
      Type.String({
        minLength: 10,
        maxLength: 10,
        pattern: MOBILE_PATTERN,
        'x-rule': 'must be exactly 10 digits',
      }),
    ),
    title: name,
    firstName: name,
    middleName: name,
    lastName: name,
    gender: name,
    specialDate: name,
    address,
    address2: address,
    city: name,
    state: name,
    country: name,
    pincode: name,
    physicalCard: Type.Optional(
      Type.Boolean({ description: 'Whether a physical card is required at issuance' }),
    ),
    physicalDeliveryAddressFlag: Type.Optional(
      Type.Boolean({
        description: 'Whether the delivery address differs from the primary address; true asks for its parts',
      }),
    ),
    deliveryAddress: address,
    deliveryAddress2: address,
    deliveryCity: name,
    deliveryState: name,
    deliveryCountry: name,
    deliveryPincode: name,
    referenceNumber: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Your reference of this order: repeating the order with it returns the first card',
      }),
    ),
    loadAmount: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        pattern: '^[1-9][0-9]{0,8}$',
        minimum: 1,
        maximum: 999_999_999,
        multipleOf: 1,
        'x-rule': 'must be a whole number of rupees, at least 1',
        description: 'Whole rupees to load; by default the denomination of the card account',
      }),
    ),
  },
  { title: 'GiftCardOrder', additionalProperties: false, ...DELIVERY_RULE },
)
export type GiftCardRequest = Static<typeof GiftCardRequest>

const HOLDER = [
  'email',
  'mobile',
  'title',
  'firstName',
  'middleName',
  'lastName',
  'gender',
  'specialDate',
  'address',
  'address2',
  'city',
  'state',
  'country',
  'pincode',
  ...DELIVERY,
  'deliveryAddress2',
] as const

/** A valid request as the command has it. */
export function readGiftCardOrder(request: GiftCardRequest): GiftCardOrder {
  const { companyId, cardAccountId, userId, physicalCard = false, loadAmount, referenceNumber } = request
  const loadPaise = loadAmount === undefined ? undefined : paise(BigInt(loadAmount) * 100n)
  // Under the same names and as it was sent (decision C17).
  const holder = Object.fromEntries(
    HOLDER.flatMap((part) => (request[part] === undefined ? [] : [[part, request[part]]])),
  )
  return { companyId, cardAccountId, userId, physical: physicalCard, loadPaise, holder, referenceNumber }
}
