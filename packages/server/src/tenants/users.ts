import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { eraseUser } from '@svc/core/cards/user/erase-user'
import { createUser } from '@svc/core/tenants/create-user'
import { updateUser } from '@svc/core/tenants/update-user'
import { type Profile, type User, users } from '@svc/core/tenants/user'
import { rfc3339 } from '@svc/kernel/time'
import type { CommandAudit } from '@svc/platform/audit'
import { type Static, type TSchema, Type } from 'typebox'
import { GiftCardRequest } from '../cards/gift-card-order.ts'
import { begins, escapeLikePattern, type Filters } from '../http/list.ts'
import { commandContract, operation } from '../http/operation.ts'
import {
  exactFilter,
  type Field,
  idFilter,
  listOf,
  type Resource,
  recordOf,
  showOf,
  toRecord,
} from '../http/resource.ts'
import { ofCompanies } from './companies.ts'

const USERS = '/api/v0/partner/users'
const UserParams = Type.Object({
  userId: Type.String({ description: 'One of the users of your companies' }),
})

/** The same rules as for the holder in an order of a card. */
const { email, mobile, title, firstName, middleName, lastName, gender, specialDate } =
  GiftCardRequest.properties
const PROFILE = { email, mobile, title, firstName, middleName, lastName, gender, specialDate }
const NAMES = Object.keys(PROFILE) as (keyof typeof PROFILE)[]

/** What says who a person is: masked in the console until it is revealed (decision O7). */
const PERSONAL: Readonly<Record<(typeof NAMES)[number], 'name' | 'address' | 'mobile' | 'text'>> = {
  email: 'address',
  mobile: 'mobile',
  title: 'text',
  firstName: 'name',
  middleName: 'name',
  lastName: 'name',
  gender: 'text',
  specialDate: 'text',
}

/** A user, and for operators the name of the company. */
export type ListedUser = User & { readonly companyName?: string }

/** What people look users up by: an id, a whole mobile number, or an e-mail address. */
export function whoIs(filters: Filters, alias: string, q: string, findsByBegin: boolean): void {
  if (q.startsWith('usr_')) filters.add(`${alias}.user_id = ?`, q)
  else if (/^[0-9]{10}$/.test(q)) filters.add(`${alias}.mobile = ?`, q)
  else filters.add(`${alias}.email_key like ?`, emailPattern(q, findsByBegin))
}

/**
 * What `like` finds e-mail addresses by, in small letters. Those who may reveal personal data find them by their begin; for
 * all others a begin would spell out, letter by letter, what is masked (decision O7).
 */
export const emailPattern = (q: string, findsByBegin: boolean): string =>
  (findsByBegin ? begins : escapeLikePattern)(q.toLowerCase())

const PROFILE_FIELDS: Readonly<Record<string, Field<ListedUser>>> = Object.fromEntries(
  NAMES.map((name) => [
    name,
    {
      schema: Type.Optional(Type.String({ 'x-personal': PERSONAL[name] })),
      of: (row: ListedUser) => row[name],
    },
  ]),
)

/** Users, as every reader sees and finds them. */
export const user = {
  titles: { tenant: 'PartnerUser', operator: 'User' },
  description: 'What is not known is absent',
  from: { columns: users.columns, table: 'users u', alias: 'u' },
  operatorFrom: {
    columns: 'co.name as "companyName"',
    joins: 'join companies co on co.partner_id = u.partner_id and co.company_id = u.company_id',
  },
  tenant: 'u.partner_id',
  keys: [{ sql: 'u.user_id', type: 'text' }],
  fields: {
    userId: { schema: Type.String(), of: ({ userId }) => userId },
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId, operatorOnly: true },
    companyId: { schema: Type.String(), of: ({ companyId }) => companyId },
    companyName: { schema: Type.String(), of: ({ companyName }) => companyName, operatorOnly: true },
    ...PROFILE_FIELDS,
    createdOn: {
      schema: Type.String({ description: 'RFC 3339' }),
      of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone),
    },
    erasedOn: {
      schema: Type.Optional(Type.String({ description: 'RFC 3339: since then nothing is known' })),
      of: ({ erasedAt }, timeZone) => erasedAt && rfc3339(erasedAt, timeZone),
    },
  },
  filters: {
    q: {
      schema: exactFilter(
        'Id, whole mobile number, or whole e-mail address; roles that reveal personal data find addresses by their begin',
        254,
      ),
      sql: (filters, q, _, { reveals = false }) => whoIs(filters, 'u', q, reveals),
      operatorOnly: true,
    },
    partnerId: { schema: idFilter('Of this partner'), sql: 'u.partner_id = ?', operatorOnly: true },
    // On the expression of its index, so that no lookup of a person by company uses that one (decision X8).
    companyId: { schema: idFilter('Only users of this company'), sql: `u.company_id || '' = ?` },
  },
} satisfies Resource<ListedUser>

const UserRecord = recordOf(user, 'tenant')
const toWire = toRecord<ListedUser>(user, 'tenant')

/** Not in the specification. */
export const listUsers = listOf<ListedUser>(user, {
  ...ofCompanies('cards:read'),
  id: 'listUsers',
  path: USERS,
  summary: 'List users',
  description: 'Of all companies, or of one. Newest first; pass `next` back as `after` for the next page.',
})

/** Not in the specification. */
export const getUser = showOf<ListedUser>(user, {
  ...ofCompanies('cards:read'),
  id: 'getUser',
  path: `${USERS}/:userId`,
  summary: 'Get user',
  params: UserParams,
  errors: ['user_not_found'],
  notFound: () => fail('user_not_found'),
})

/** The audit says who registered or changed a user, and never what is known of the person. */
const audited =
  (action: string) =>
  ({ partnerId }: { readonly partnerId: string }): CommandAudit<User> => ({
    actor: `tenant ${partnerId}`,
    action,
    target: ({ userId }) => userId,
    tenantId: partnerId,
  })

/** Not in the specification. */
export const createUserContract = commandContract({
  ...ofCompanies('cards:write'),
  id: 'createUser',
  method: 'POST',
  path: USERS,
  summary: 'Create user of a company',
  description:
    'An employee of the company, who holds its cards and coins. Mobile number and e-mail address name one user of a company each. An order of a card creates its holder by itself where the holder has no user yet.',
  body: Type.Object(
    {
      companyId: Type.String({ description: 'One of your companies' }),
      ...PROFILE,
    },
    { additionalProperties: false },
  ),
  result: UserRecord,
  errors: ['company_not_found', 'already_exists'],
  run: createUser,
  args: ({ caller, body: { companyId, ...profile } }) => ({
    partnerId: caller.tenantId,
    companyId,
    profile: requireSomething(profile),
  }),
  audit: audited('user.created'),
  reply: (made, { ok, timeZone }) => ok(toWire(made, timeZone)),
})
export const createUserOperation = operation(createUserContract)

function requireSomething(given: Profile): Profile {
  const profile = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  if (Object.keys(profile).length === 0)
    failField('mobile', 'required', 'is required, or another field that says who it is')
  return profile
}

/** RFC 7396: `null` removes the field. */
const removable = <T extends TSchema & { type: string }>(field: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...field, type: [field.type, 'null'] }))

/** Not in the specification. */
export const updateUserOperation = operation({
  ...ofCompanies('cards:write'),
  id: 'updateUser',
  method: 'PATCH',
  path: `${USERS}/:userId`,
  summary: 'Update user',
  description:
    'Merge patch: what is absent stays as it is, `null` removes. Cards that were issued before keep their holder as ordered.',
  params: UserParams,
  body: Type.Object(
    {
      email: removable(email),
      mobile: removable(mobile),
      title: removable(title),
      firstName: removable(firstName),
      middleName: removable(middleName),
      lastName: removable(lastName),
      gender: removable(gender),
      specialDate: removable(specialDate),
    },
    { additionalProperties: false },
  ),
  result: UserRecord,
  errors: ['user_not_found', 'user_erased', 'already_exists'],
  run: updateUser,
  args: ({ caller, params: { userId }, body }) => ({ partnerId: caller.tenantId, userId, changes: body }),
  audit: audited('user.changed'),
  reply: (made, { ok, timeZone }) => ok(toWire(made, timeZone)),
})

/** Not in the specification. */
export const eraseUserOperation = operation({
  ...ofCompanies('cards:write'),
  id: 'eraseUser',
  method: 'POST',
  path: `${USERS}/:userId/erase`,
  summary: 'Erase user',
  description:
    'Erases the personal data of a user for good (decision C23): here, on the cards, in their history and in events. Ids, amounts and coins stay. The user’s cards must be blocked or expired, and nothing may be left on them, nor coins. A repeat changes nothing.',
  params: UserParams,
  result: UserRecord,
  errors: ['user_not_found', 'user_in_use'],
  run: eraseUser,
  args: ({ caller, params: { userId } }) => ({ partnerId: caller.tenantId, userId }),
  audit: ({ partnerId, userId }) => ({
    actor: `tenant ${partnerId}`,
    action: 'user.erased',
    target: userId,
    tenantId: partnerId,
  }),
  reply: (erased, { ok, timeZone }) => ok(toWire(erased.user, timeZone)),
})
