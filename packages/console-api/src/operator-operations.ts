import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from './as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  listOf,
  maybeInstant,
  record,
  text,
} from './console-schema.ts'
import {
  findOperator,
  insertOperator,
  listOperatorAccounts,
  type OperatorAccount,
  setPasswordHash,
  updateOperator,
} from './operator-store.ts'
import { hashPassword } from './password.ts'
import { ROLES } from './permissions.ts'
import { NewPassword } from './session-operations.ts'

const TAG = 'Operators'
const Role = Type.Enum([...ROLES])

const OperatorRecord = record('Operator', {
  operatorId: text(),
  name: text('Name with which the operator signs in'),
  role: Role,
  status: Type.Enum(['active', 'disabled']),
  createdOn: instant,
  lastSignInOn: maybeInstant,
})

const toWire = (operator: OperatorAccount, timeZone: string) => ({
  operatorId: operator.operatorId,
  name: operator.name,
  role: operator.role,
  status: operator.disabledAt ? 'disabled' : 'active',
  createdOn: rfc3339(operator.createdAt, timeZone),
  lastSignInOn: operator.lastSignInAt ? rfc3339(operator.lastSignInAt, timeZone) : undefined,
})

export const OperatorName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._@-]{1,63}$',
  'x-rule': 'must be 2 to 64 small letters, digits and . _ @ -',
})

export const listOperators = query({
  ...consoleOperation,
  id: 'console.listOperators',
  method: 'GET',
  path: `${CONSOLE_API}/operators`,
  tag: TAG,
  summary: 'List operators',
  permission: 'administer',
  result: listOf(OperatorRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async () => {
      const data = (await database.operate(listOperatorAccounts)).map((operator) =>
        toWire(operator, timeZone),
      )
      return { body: JSON.stringify({ data, total: { count: data.length, exact: true } }) }
    }
  },
})

export const createOperator = query({
  ...consoleOperation,
  id: 'console.createOperator',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/operators`,
  tag: TAG,
  summary: 'Create operator',
  permission: 'administer',
  body: closed({ name: OperatorName, role: Role, password: NewPassword }),
  result: OperatorRecord,
  errors: ['already_exists'],
  mount(services) {
    const { config, random } = services
    return async (input) => {
      const { name, password } = input.body
      const passwordHash = await hashPassword(password)
      const operator = await asOperator(services, input, (tx) =>
        insertOperator(tx, random, { name, role: input.body.role as OperatorAccount['role'], passwordHash }),
      )
      return { body: JSON.stringify(toWire(operator, config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const changeOperator = query({
  ...consoleOperation,
  id: 'console.changeOperator',
  stepUp: true,
  method: 'PATCH',
  path: `${CONSOLE_API}/operators/:operatorId`,
  tag: TAG,
  summary: 'Change role of operator, disable or enable',
  description: 'Disabling ends all sessions within a second. The last active administrator stays one.',
  permission: 'administer',
  params: idParam('operatorId'),
  body: closed({ role: Type.Optional(Role), disabled: Type.Optional(Type.Boolean()) }),
  result: OperatorRecord,
  errors: ['operator_not_found', 'last_administrator'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      const change = { role: body.role as OperatorAccount['role'] | undefined, disabled: body.disabled }
      const operator = await asOperator(services, input, (tx) =>
        updateOperator(tx, params.operatorId, change),
      )
      return {
        body: JSON.stringify(
          toWire(operator ?? fail('operator_not_found'), services.config.BUSINESS_TIME_ZONE),
        ),
      }
    }
  },
})

export const resetOperatorPassword = query({
  ...consoleOperation,
  id: 'console.resetOperatorPassword',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/operators/:operatorId/password`,
  tag: TAG,
  summary: 'Set a new password for an operator',
  description: 'Ends all sessions of the operator within a second.',
  permission: 'administer',
  params: idParam('operatorId'),
  body: closed({ password: NewPassword }),
  result: OperatorRecord,
  errors: ['operator_not_found'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      const passwordHash = await hashPassword(body.password)
      const operator = await asOperator(services, input, async (tx) => {
        const found = await findOperator(tx, params.operatorId)
        if (found?.operatorId !== params.operatorId) return fail('operator_not_found')
        await setPasswordHash(tx, found.operatorId, passwordHash)
        recordAudit(tx, [{ action: 'operator.password_reset', target: found.operatorId }])
        return found
      })
      return { body: JSON.stringify(toWire(operator, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})
