import { EMAIL_CHARS_MAX, EMAIL_PATTERN, MOBILE_PATTERN } from '@svc/contract/contact-fields'
import { fail } from '@svc/contract/errors'
import { eraseUser } from '@svc/core/cards/erase-user'
import { findCompany } from '@svc/core/cards/list-onboarded'
import { createUser } from '@svc/core/tenants/create-user'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { Filters, type PageRequest, readList } from '@svc/server/http/list'
import { type Caller, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  Name,
  personal,
  reasonText,
  record,
  text,
} from './console-schema.ts'
import { keyedQuery, onceOnBehalf } from './once.ts'
import { emailPattern } from './personal-data.ts'

const USERS = `${CONSOLE_API}/users`
const id = Type.String({ maxLength: 128 })

const UserRecord = record('User', {
  userId: text(),
  partnerId: text(),
  companyId: text(),
  companyName: text(),
  title: personal('text'),
  firstName: personal('name'),
  middleName: personal('name'),
  lastName: personal('name'),
  email: personal('address'),
  mobile: personal('mobile'),
  createdOn: instant,
  erasedOn: Type.Optional(instant),
})

interface UserRow {
  user_id: string
  partner_id: string
  company_id: string
  company_name: string
  title: string | null
  first_name: string | null
  middle_name: string | null
  last_name: string | null
  email: string | null
  mobile: string | null
  created_at: Date
  erased_at: Date | null
}

const toWire = (row: UserRow, timeZone: string) => ({
  userId: row.user_id,
  partnerId: row.partner_id,
  companyId: row.company_id,
  companyName: row.company_name,
  title: row.title ?? undefined,
  firstName: row.first_name ?? undefined,
  middleName: row.middle_name ?? undefined,
  lastName: row.last_name ?? undefined,
  email: row.email ?? undefined,
  mobile: row.mobile ?? undefined,
  createdOn: rfc3339(row.created_at, timeZone),
  ...(row.erased_at && { erasedOn: rfc3339(row.erased_at, timeZone) }),
})

interface Wanted {
  readonly filters: Filters
  readonly partnerId?: string | undefined
  readonly descending?: boolean
}

function readUsers(
  tx: Tx,
  { filters, partnerId, descending = true }: Wanted,
  pageRequest: PageRequest,
  timeZone: string,
) {
  // Company by company: no index leads from a partner to its users (decision X8).
  const parts = partnerId !== undefined && {
    from: `from (select company_id from companies where partner_id = ${filters.param(partnerId)}) c`,
    link: `u.company_id || '' = c.company_id`,
  }
  const plan = {
    columns: `u.user_id, u.partner_id, u.company_id, c.name as company_name, u.title, u.first_name, u.middle_name,
      u.last_name, u.email, u.mobile, u.created_at, u.erased_at`,
    table: 'users u',
    alias: 'u',
    joins: 'join companies c on c.company_id = u.company_id',
    ...(parts && { parts }),
    filters,
    keys: [{ sql: 'u.user_id', type: 'text' } as const],
    descending,
  }
  return readList(tx, plan, pageRequest, (row: UserRow) => toWire(row, timeZone))
}

/** What people look users up by: an id, a whole mobile number, or an e-mail address. */
export function whoIs(filters: Filters, alias: string, q: string, caller: Caller): void {
  if (q.startsWith('usr_')) filters.add(`${alias}.user_id = ?`, q)
  else if (/^[0-9]{10}$/.test(q)) filters.add(`${alias}.mobile = ?`, q)
  else filters.add(`${alias}.email_key like ?`, emailPattern(q, caller))
}

async function findOne(tx: Tx, userId: string, timeZone: string) {
  const filters = new Filters().add('u.user_id = ?', userId)
  return (await readUsers(tx, { filters }, {}, timeZone)).data[0] ?? fail('user_not_found')
}

export const listUsersInConsole = query({
  ...consoleOperation,
  id: 'console.listUsers',
  method: 'GET',
  path: USERS,
  tag: 'Users',
  summary: 'List users',
  permission: 'view',
  query: listQuery(BY_TIME, {
    q: exact(
      'Id, whole mobile number, or whole e-mail address; roles that reveal personal data find addresses by their begin',
      254,
    ),
    partnerId: exact('Of this partner'),
    companyId: exact('Of this company'),
  }),
  result: listOf(UserRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ caller, query }) => {
      const { q, companyId, partnerId, sort } = query
      const filters = new Filters().add(`u.company_id || '' = ?`, companyId)
      if (q !== undefined) whoIs(filters, 'u', q, caller)
      // A company, or a person found by name, needs no walk through the partner's companies.
      const byParts = companyId === undefined && q === undefined
      if (!byParts) filters.add('u.partner_id = ?', partnerId)
      const wanted = { filters, descending: sort !== 'created', ...(byParts && { partnerId }) }
      const page = await database.report((tx) => readUsers(tx, wanted, query, timeZone))
      return { body: JSON.stringify(page) }
    }
  },
})

export const showUser = query({
  ...consoleOperation,
  id: 'console.showUser',
  method: 'GET',
  path: `${USERS}/:userId`,
  tag: 'Users',
  summary: 'Show user',
  permission: 'view',
  params: idParam('userId'),
  result: UserRecord,
  errors: ['user_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { userId } }) => ({
      body: JSON.stringify(await database.operate((tx) => findOne(tx, userId, timeZone))),
    })
  },
})

const part = Type.Optional(Name)

export const createUserInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createUser',
  method: 'POST',
  path: USERS,
  tag: 'Users',
  summary: 'Create user of a company',
  permission: 'operations',
  body: closed({
    companyId: id,
    firstName: part,
    lastName: part,
    mobile: Type.Optional(Type.String({ pattern: MOBILE_PATTERN, 'x-rule': 'must be exactly 10 digits' })),
    email: Type.Optional(
      Type.String({
        maxLength: EMAIL_CHARS_MAX,
        pattern: EMAIL_PATTERN,
        'x-rule': 'must be an e-mail address',
      }),
    ),
  }),
  result: UserRecord,
  errors: ['company_not_found', 'already_exists'],
  mount(services) {
    const { commands, config, database } = services
    const { respond } = commands.open(createUser)
    return async (input) => {
      const { companyId, ...given } = input.body
      const profile = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      if (Object.keys(profile).length === 0)
        fail('validation_failed', {
          description: 'One of firstName, lastName, mobile and email is required',
        })
      const company = await database.operate((tx) => findCompany(tx, companyId))
      const { partnerId } = company ?? fail('company_not_found')
      const { body } = await respond(
        { partnerId, companyId, profile },
        {
          reply: ({ userId }) => ({ status: 200, body: JSON.stringify({ userId }) }),
          ...onceOnBehalf(partnerId, { method: 'POST', path: USERS }, input, {
            action: 'user.created',
            target: (made: { userId: string }) => made.userId,
          }),
        },
      )
      const { userId } = JSON.parse(body) as { userId: string }
      const user = await database.operate((tx) => findOne(tx, userId, config.BUSINESS_TIME_ZONE))
      return { body: JSON.stringify(user) }
    }
  },
})

export const eraseUserInConsole = query({
  ...consoleOperation,
  id: 'console.eraseUser',
  stepUp: true,
  method: 'POST',
  path: `${USERS}/:userId/erase`,
  tag: 'Users',
  summary: 'Erase personal data of a user',
  description: 'For good (decision C23): in the record, on cards, in their history and events.',
  permission: 'administer',
  params: idParam('userId'),
  body: closed({ reason: reasonText() }),
  result: UserRecord,
  errors: ['user_not_found', 'user_in_use'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(eraseUser)
    return async (input) => {
      const { userId } = input.params
      const timeZone = config.BUSINESS_TIME_ZONE
      const { partnerId } = await database.operate((tx) => findOne(tx, userId, timeZone))
      const { reason } = input.body
      await run(
        { partnerId, userId },
        auditOf(partnerId, input, { action: 'user.erased', target: userId, details: { reason } }),
      )
      return { body: JSON.stringify(await database.operate((tx) => findOne(tx, userId, timeZone))) }
    }
  },
})
