import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  listOf,
  listQuery,
  maybeInstant,
  ROLES,
  record,
  text,
} from './console-schema.ts'
import { later } from './later.ts'
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

export const OperatorName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._@-]{1,63}$',
  'x-rule': 'must be 2 to 64 small letters, digits and . _ @ -',
})

export const listOperators = query({
  ...consoleOperation,
  id: 'listOperators',
  method: 'GET',
  path: `${CONSOLE_API}/operators`,
  tag: TAG,
  summary: 'List operators',
  role: 'admin',
  query: listQuery(['name'], {}),
  result: listOf(OperatorRecord),
  errors: [],
  mount: later,
})

export const createOperator = query({
  ...consoleOperation,
  id: 'createOperator',
  method: 'POST',
  path: `${CONSOLE_API}/operators`,
  tag: TAG,
  summary: 'Create operator',
  role: 'admin',
  body: closed({ name: OperatorName, role: Role, password: NewPassword }),
  result: OperatorRecord,
  errors: ['already_exists'],
  mount: later,
})

export const changeOperator = query({
  ...consoleOperation,
  id: 'changeOperator',
  method: 'PATCH',
  path: `${CONSOLE_API}/operators/:operatorId`,
  tag: TAG,
  summary: 'Change role of operator, disable or enable',
  description: 'Disabling ends all sessions within a second. The last active administrator stays one.',
  role: 'admin',
  params: idParam('operatorId'),
  body: closed({ role: Type.Optional(Role), disabled: Type.Optional(Type.Boolean()) }),
  result: OperatorRecord,
  errors: ['operator_not_found', 'last_administrator'],
  mount: later,
})

export const resetOperatorPassword = query({
  ...consoleOperation,
  id: 'resetOperatorPassword',
  method: 'POST',
  path: `${CONSOLE_API}/operators/:operatorId/password`,
  tag: TAG,
  summary: 'Set a new password for an operator',
  description: 'Ends all sessions of the operator within a second.',
  role: 'admin',
  params: idParam('operatorId'),
  body: closed({ password: NewPassword }),
  result: OperatorRecord,
  errors: ['operator_not_found'],
  mount: later,
})
