import { fail } from '@svc/contract/errors'
import { findCompany } from '@svc/core/cards/card/list-onboarded'
import { eraseUser } from '@svc/core/cards/user/erase-user'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { findRow, listOf, recordOf, showOf, toRecord } from '@svc/server/http/resource'
import { createUserContract, type ListedUser, user } from '@svc/server/tenants/users'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, reasonText } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'
import { mayReveal } from '../records/reveals.ts'

const USERS = `${CONSOLE_API}/users`
const toWire = toRecord<ListedUser>(user, 'operator')

export const listUsersInConsole = listOf<ListedUser>(user, {
  ...consoleOperation,
  id: 'console.listUsers',
  path: USERS,
  tag: 'Users',
  summary: 'List users',
  permission: 'view',
  reveals: mayReveal,
})

const missing = () => fail('user_not_found')

export const showUser = showOf<ListedUser>(user, {
  ...consoleOperation,
  id: 'console.showUser',
  path: `${USERS}/:userId`,
  tag: 'Users',
  summary: 'Show user',
  permission: 'view',
  params: idParam('userId'),
  errors: ['user_not_found'],
  notFound: missing,
})

export const createUserInConsole = onBehalf(createUserContract, {
  id: 'console.createUser',
  path: USERS,
  permission: 'operations',
  action: 'user.created',
  tenantOf: async ({ body: { companyId } }, { database }) =>
    ((await database.operate((tx) => findCompany(tx, companyId))) ?? fail('company_not_found')).partnerId,
  target: ({ userId }) => userId,
})

const findOne = async (tx: Tx, userId: string): Promise<ListedUser> =>
  (await findRow<ListedUser>(tx, user, { reader: 'operator' }, userId)) ?? missing()

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
  result: recordOf(user, 'operator'),
  errors: ['user_not_found', 'user_in_use'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(eraseUser)
    return async (input) => {
      const { userId } = input.params
      const { partnerId } = await database.operate((tx) => findOne(tx, userId))
      const { reason } = input.body
      await run(
        { partnerId, userId },
        auditOf(partnerId, input, { action: 'user.erased', target: userId, details: { reason } }),
      )
      const erased = await database.operate((tx) => findOne(tx, userId))
      return { body: JSON.stringify(toWire(erased, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
