import { fail } from './failures.ts'

/** Section 4.3: what is encrypted in the request. */
export interface Order {
  readonly userId?: string
  readonly companyId: string
  readonly cardAccountId: string
  readonly email?: string
  readonly mobile?: string
  readonly title?: string
  readonly firstName?: string
  readonly middleName?: string
  readonly lastName?: string
  readonly gender?: string
  readonly specialDate?: string
  readonly physicalCard?: boolean
  readonly physicalDeliveryAddressFlag?: boolean
  /** Whole rupees; by default what the account says. */
  readonly loadAmount?: string | number
}

const text = (maxLength: number) => ({ type: 'string', maxLength })
const names = (maxLength: number, ...fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, text(maxLength)]))

export const ORDER = {
  type: 'object',
  additionalProperties: false,
  required: ['companyId', 'cardAccountId'],
  properties: {
    ...names(64, 'userId', 'companyId', 'cardAccountId'),
    email: { ...text(254), pattern: '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$' },
    mobile: { type: 'string', pattern: '^[0-9]{10}$' },
    ...names(100, 'title', 'firstName', 'middleName', 'lastName', 'gender', 'specialDate'),
    ...names(255, 'address', 'address2', 'deliveryAddress', 'deliveryAddress2'),
    ...names(100, 'city', 'state', 'country', 'pincode'),
    ...names(100, 'deliveryCity', 'deliveryState', 'deliveryCountry', 'deliveryPincode'),
    physicalCard: { type: 'boolean' },
    physicalDeliveryAddressFlag: { type: 'boolean' },
    loadAmount: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
}

/** In paise. */
export function readLoad({ loadAmount }: Order): bigint | undefined {
  if (loadAmount === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(String(loadAmount)))
    return fail('validation_failed', 'loadAmount: must be a whole number of rupees, at least 1')
  return BigInt(loadAmount) * 100n
}

const NOT_OF_THE_HOLDER = new Set([
  'userId',
  'companyId',
  'cardAccountId',
  'physicalCard',
  'physicalDeliveryAddressFlag',
  'loadAmount',
])

/** Holder and addresses, as they were sent. */
export const holderOf = (order: Order): Record<string, string> =>
  Object.fromEntries(
    Object.entries(order).filter(([name]) => !NOT_OF_THE_HOLDER.has(name)) as [string, string][],
  )
