import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import type { Key } from '@svc/server/http/list-cursor'
import { query } from '@svc/server/http/operation'
import { choiceFilter, fieldsOf, listOf, type Resource, toRecord } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  maybeInstant,
  record,
  text,
} from '../console-schema.ts'
import { type AccessWanted, byOperator, changeAccess, toolsOf } from './access-requests.ts'
import {
  findOperator,
  OPERATOR_COLUMNS,
  OPERATOR_NAME_PATTERN,
  type OperatorAccount,
  updateOperator,
} from './operator-store.ts'
import { ROLES } from './permissions.ts'

const TAG = 'Operators'
export const Role = Type.Enum([...ROLES], { description: 'What the operator may do' })

const NAME_ORDER: readonly Key[] = [
  { sql: 'o.name', type: 'text' },
  { sql: 'o.operator_id', type: 'text' },
]

/** Operators of the console, as they and the command line show them. */
export const operator = {
  titles: { operator: 'Operator' },
  from: { columns: OPERATOR_COLUMNS, table: 'operators o', alias: 'o' },
  // They belong to no tenant.
  tenant: 'o.operator_id',
  keys: NAME_ORDER,
  sorts: { name: NAME_ORDER },
  usualSort: 'name',
  fields: {
    operatorId: { schema: text(), of: ({ operatorId }) => operatorId },
    name: { schema: text('Name with which the operator signs in'), of: ({ name }) => name },
    role: { schema: Role, of: ({ role }) => role },
    status: {
      schema: Type.Enum(['active', 'disabled']),
      of: ({ disabledAt }) => (disabledAt ? 'disabled' : 'active'),
    },
    createdOn: { schema: instant, of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone) },
    lastSignInOn: {
      schema: maybeInstant,
      of: ({ lastSignInAt }, timeZone) => lastSignInAt && rfc3339(lastSignInAt, timeZone),
    },
  },
  filters: {
    role: { schema: choiceFilter(ROLES), sql: 'o.role = ?' },
    status: {
      schema: choiceFilter(['active', 'disabled']),
      sql: (filters, status) =>
        void filters.conditions.push(`o.disabled_at is ${status === 'active' ? '' : 'not '}null`),
    },
  },
} satisfies Resource<OperatorAccount>

const ChangedOperatorRecord = record('ChangedOperator', {
  ...fieldsOf(operator, 'operator'),
  approvalId: maybe('What a second administrator must approve before it happens'),
})
export const operatorToWire = toRecord<OperatorAccount>(operator, 'operator')

export const OperatorName = Type.String({
  pattern: OPERATOR_NAME_PATTERN,
  'x-rule': 'must be 2 to 64 small letters, digits and . _ @ -',
})

export const listOperators = listOf<OperatorAccount>(operator, {
  ...consoleOperation,
  id: 'console.listOperators',
  path: `${CONSOLE_API}/operators`,
  tag: TAG,
  summary: 'List operators',
  permission: 'administer',
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
      const { changed, approvalId } = await asOperator(services, input, async (tx) => {
        const change = (wanted: AccessWanted) =>
          changeAccess(tx, toolsOf(services), byOperator(input), { ...wanted, operatorId })
        const enabled = disabled === false ? await change({ kind: 'enable' }) : undefined
        if (disabled === true) await updateOperator(tx, operatorId, { disabled })
        const promoted = role && (await change({ kind: 'role', role: role as OperatorAccount['role'] }))
        const approvalId = promoted?.approvalId ?? enabled?.approvalId
        return { changed: await findOperator(tx, operatorId), approvalId }
      })
      const shown = operatorToWire(
        changed?.operatorId === operatorId ? changed : fail('operator_not_found'),
        services.config.BUSINESS_TIME_ZONE,
      )
      return { body: JSON.stringify({ ...shown, approvalId }) }
    }
  },
})
