import { type Static, Type } from 'typebox'
import { fail } from '../errors.ts'
import { formatRupees, paise } from '../kernel/money.ts'
import type { Holder } from './card.ts'

const free = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const name = free(100)
const address = free(255)

/** Spec section 4.3, and `loadAmount` (decision C6). What is sealed in the request. */
export const GiftCardOrder = Type.Object(
  {
    userId: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a user created in the company' })),
    companyId: Type.String({ maxLength: 64, description: 'Id of the company' }),
    cardAccountId: Type.String({ maxLength: 64, description: 'Id of the account under the company' }),
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$',
        'x-rule': 'must be an e-mail address',
      }),
    ),
    mobile: Type.Optional(
      Type.String({
        minLength: 10,
        maxLength: 10,
        pattern: '^[0-9]{10}$',
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
    loadAmount: Type.Optional(
      Type.Unsafe<string | number>({
        anyOf: [{ type: 'string' }, { type: 'number' }],
        description: 'Whole rupees to load; by default the denomination of the card account',
      }),
    ),
  },
  { title: 'GiftCardOrder', additionalProperties: false },
)
export type GiftCardOrder = Static<typeof GiftCardOrder>

const DELIVERY = [
  'deliveryAddress',
  'deliveryCity',
  'deliveryState',
  'deliveryCountry',
  'deliveryPincode',
] as const
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

/** The rules that the schema cannot say, all faults at once; answers the load in paise, if the order names one. */
export function checkOrder(order: GiftCardOrder, loadMaxPaise: bigint): bigint | undefined {
  const faults: string[] = []
  if (order.physicalDeliveryAddressFlag)
    for (const part of DELIVERY)
      if (!order[part]) faults.push(`${part}: is required when physicalDeliveryAddressFlag is true`)
  const load =
    order.loadAmount === undefined ? undefined : /^[1-9]\d{0,8}$/.exec(String(order.loadAmount))?.[0]
  if (order.loadAmount !== undefined && load === undefined)
    faults.push('loadAmount: must be a whole number of rupees, 1 or more')
  if (faults.length > 0) fail('validation_failed', { description: faults.join('; ') })
  const loadPaise = load === undefined ? undefined : BigInt(load) * 100n
  requireWithinLimit(loadPaise, loadMaxPaise)
  return loadPaise
}

export function requireWithinLimit(loadPaise: bigint | undefined, loadMaxPaise: bigint): void {
  if (loadPaise !== undefined && loadPaise > loadMaxPaise)
    fail('load_over_limit', {
      description: `A gift card holds at most ${formatRupees(paise(loadMaxPaise))} rupees`,
    })
}

/** What the order says of the holder, under the same names and as it was sent (decision C17). */
export function holderOf(order: GiftCardOrder): Holder {
  return Object.fromEntries(
    HOLDER.flatMap((part) => (order[part] === undefined ? [] : [[part, order[part]]])),
  )
}
