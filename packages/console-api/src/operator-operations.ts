import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { type AccessWanted, byOperator, changeAccess, toolsOf } from './access-requests.ts'
import { asOperator } from './as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  listOf,
  maybe,
  maybeInstant,
  record,
  text,
} from './console-schema.ts'
import { findOperator, listOperatorAccounts, type OperatorAccount, updateOperator } from './operator-store.ts'
import { ROLES } from './permissions.ts'

const TAG = 'Operators'
const Role = Type.Enum([...ROLES])

const fields = {
  operatorId: text(),
  name: text('Name with which the operator signs in'),
  role: Role,
  status: Type.Enum(['active', 'disabled']),
  createdOn: instant,
  lastSignInOn: maybeInstant,
}
const OperatorRecord = record('Operator', fields)
const ChangedOperatorRecord = record('ChangedOperator', {
  ...fields,
  approvalId: maybe('What a second administrator must approve before it happens'),
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

export const changeOperator = query({
  ...consoleOperation,
  id: 'console.changeOperator',
  stepUp: true,
  method: 'PATCH',
  path: `${CONSOLE_API}/operators/:operatorId`,
  tag: TAG,
  summary: 'Change role of operator, disable or enable',
  description:
    'Disabling ends all sessions within a second. The last active administrator stays one. In live mode a role that may do more, and the return of an administrator, wait for a second administrator: `approvalId` says so.',
  permission: 'administer',
  params: idParam('operatorId'),
  body: closed({ role: Type.Optional(Role), disabled: Type.Optional(Type.Boolean()) }),
  result: ChangedOperatorRecord,
  errors: ['operator_not_found', 'last_administrator', 'approval_open'],
  mount(services) {
    return async (input) => {
      const { disabled, role } = input.body
      const { operatorId } = input.params
      const { operator, approvalId } = await asOperator(services, input, async (tx) => {
        const change = (wanted: AccessWanted) =>
          changeAccess(tx, toolsOf(services), byOperator(input), { ...wanted, operatorId })
        const enabled = disabled === false ? await change({ kind: 'enable' }) : undefined
        if (disabled === true) await updateOperator(tx, operatorId, { disabled })
        const promoted = role && (await change({ kind: 'role', role: role as OperatorAccount['role'] }))
        const approvalId = promoted?.approvalId ?? enabled?.approvalId
        return { operator: await findOperator(tx, operatorId), approvalId }
      })
      const shown = toWire(
        operator?.operatorId === operatorId ? operator : fail('operator_not_found'),
        services.config.BUSINESS_TIME_ZONE,
      )
      return { body: JSON.stringify({ ...shown, approvalId }) }
    }
  },
})
