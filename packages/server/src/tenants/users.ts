import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { eraseUser } from '@svc/core/cards/erase-user'
import { createUser } from '@svc/core/tenants/create-user'
import { updateUser } from '@svc/core/tenants/update-user'
import { type Profile, type User, users } from '@svc/core/tenants/user'
import { rfc3339 } from '@svc/kernel/time'
import type { CommandAudit } from '@svc/platform/audit'
import { statement } from '@svc/platform/db/statement'
import { type Static, type TSchema, Type } from 'typebox'
import { GiftCardRequest } from '../cards/gift-card-order.ts'
import { okWithCode, operation, query, succeedWithCode } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, page, readPage } from '../http/page.ts'

const USERS = '/api/v0/partner/users'
const TAG = 'Companies and users'
const UserParams = Type.Object({
  userId: Type.String({ description: 'One of the users of your companies' }),
})

/** The same rules as for the holder in an order of a card. */
const { email, mobile, title, firstName, middleName, lastName, gender, specialDate } =
  GiftCardRequest.properties
const PROFILE = { email, mobile, title, firstName, middleName, lastName, gender, specialDate }
const NAMES = Object.keys(PROFILE) as (keyof typeof PROFILE)[]

const known = Type.Optional(Type.String())
const UserRecord = Type.Object(
  {
    userId: Type.String(),
    companyId: Type.String(),
    ...(Object.fromEntries(NAMES.map((name) => [name, known])) as Record<keyof typeof PROFILE, typeof known>),
    createdOn: Type.String({ description: 'RFC 3339' }),
    erasedOn: Type.Optional(Type.String({ description: 'RFC 3339: since then nothing is known' })),
  },
  { title: 'PartnerUser', description: 'What is not known is absent', additionalProperties: false },
)

const toWire = (user: User, timeZone: string) => ({
  userId: user.userId,
  companyId: user.companyId,
  ...Object.fromEntries(NAMES.flatMap((name) => (user[name] === null ? [] : [[name, user[name]]]))),
  createdOn: rfc3339(user.createdAt, timeZone),
  ...(user.erasedAt && { erasedOn: rfc3339(user.erasedAt, timeZone) }),
})

const LIST = statement<User>(
  'partner_users',
  `select ${users.columns} from users u where u.partner_id = $1 and ($2::text is null or u.user_id < $2)
   order by u.user_id desc limit $3`,
)
// On the expression of its index, so that no lookup of a person by company uses that one (decision X8).
const LIST_OF_COMPANY = statement<User>(
  'partner_users_of_company',
  `select ${users.columns} from users u
   where u.partner_id = $1 and u.company_id || '' = $2 and ($3::text is null or u.user_id < $3)
   order by u.user_id desc limit $4`,
)

/** Not in the specification. */
export const listUsers = query({
  id: 'listUsers',
  method: 'GET',
  path: USERS,
  tag: TAG,
  summary: 'List users',
  description: 'Of all companies, or of one. Newest first; pass `next` back as `after` for the next page.',
  auth: 'partner',
  scope: 'cards:read',
  envelope: 'code',
  query: Type.Object(
    {
      ...PAGE_IN_QUERY,
      companyId: Type.Optional(Type.String({ description: 'Only users of this company' })),
    },
    { additionalProperties: false },
  ),
  result: PageOf(UserRecord),
  errors: [],
  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, query }) => {
      const { limit, after } = readPage(query)
      const { companyId } = query
      const rows = await database.read([tenantId], (tx) =>
        companyId === undefined
          ? tx.query(LIST, [tenantId, after?.id, limit + 1])
          : tx.query(LIST_OF_COMPANY, [tenantId, companyId, after?.id, limit + 1]),
      )
      const positionOf = ({ createdAt, userId }: User) => ({ at: createdAt, id: userId })
      return { body: succeedWithCode(page(rows, limit, positionOf, (user) => toWire(user, timeZone))) }
    }
  },
})

/** Not in the specification. */
export const getUser = query({
  id: 'getUser',
  method: 'GET',
  path: `${USERS}/:userId`,
  tag: TAG,
  summary: 'Get user',
  auth: 'partner',
  scope: 'cards:read',
  envelope: 'code',
  params: UserParams,
  result: UserRecord,
  errors: ['user_not_found'],
  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId: partnerId }, params: { userId } }) => {
      const [user] = await database.read([partnerId], (tx) =>
        tx.query(users.find, users.keys([{ partnerId, userId }])),
      )
      return { body: succeedWithCode(toWire(user ?? fail('user_not_found'), timeZone)) }
    }
  },
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
export const createUserOperation = operation({
  id: 'createUser',
  method: 'POST',
  path: USERS,
  tag: TAG,
  summary: 'Create user of a company',
  description:
    'An employee of the company, who holds its cards and coins. Mobile number and e-mail address name one user of a company each. An order of a card creates its holder by itself where the holder has no user yet.',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
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
  reply: (user, { timeZone }) => okWithCode(toWire(user, timeZone)),
})

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
  id: 'updateUser',
  method: 'PATCH',
  path: `${USERS}/:userId`,
  tag: TAG,
  summary: 'Update user',
  description:
    'Merge patch: what is absent stays as it is, `null` removes. Cards that were issued before keep their holder as ordered.',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
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
  reply: (user, { timeZone }) => okWithCode(toWire(user, timeZone)),
})

/** Not in the specification. */
export const eraseUserOperation = operation({
  id: 'eraseUser',
  method: 'POST',
  path: `${USERS}/:userId/erase`,
  tag: TAG,
  summary: 'Erase user',
  description:
    'Erases the personal data of a user for good (decision C23): here, on the cards, in their history and in events. Ids, amounts and coins stay. The user’s cards must be blocked or expired, and nothing may be left on them, nor coins. A repeat changes nothing.',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
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
  reply: ({ user }, { timeZone }) => okWithCode(toWire(user, timeZone)),
})
