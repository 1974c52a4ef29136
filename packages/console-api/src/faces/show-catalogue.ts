import { FAILURES } from '@svc/contract/errors'
import { EVENTS } from '@svc/contract/events'
import { ACCOUNT_KINDS, kindOf } from '@svc/core/ledger/chart-of-accounts'
import { query } from '@svc/server/http/operation'
import { HEALTH } from '@svc/server/http/probes'
import { OPERATIONS } from '@svc/server/operations'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, record, text } from '../console-schema.ts'

/** Error codes, operations and events of the API, and kinds of ledger accounts, for the page's select boxes. */
export const showCatalogue = query({
  ...consoleOperation,
  id: 'console.showCatalogue',
  method: 'GET',
  path: `${CONSOLE_API}/catalogue`,
  tag: 'Requests',
  summary: 'Error codes, operations and events of the API, kinds of ledger accounts',
  permission: 'view',
  result: record('Catalogue', {
    errors: Type.Array(record('ErrorCode', { error: text(), status: Type.Integer(), description: text() })),
    operations: Type.Array(record('ApiOperation', { id: text(), summary: text() })),
    accountKinds: Type.Array(record('AccountKind', { kind: Type.Enum([...ACCOUNT_KINDS]), title: text() })),
    events: Type.Array(record('EventKind', { type: text(), description: text('When it happens') })),
  }),
  errors: [],

  mount: () => {
    const errors = Object.entries(FAILURES).map(([error, { status, description }]) => ({
      error,
      status,
      description,
    }))
    const operations = OPERATIONS.filter(({ tag }) => tag !== HEALTH).map(({ id, summary }) => ({
      id,
      summary,
    }))
    const events = Object.entries(EVENTS).map(([type, { description }]) => ({ type, description }))
    const accountKinds = ACCOUNT_KINDS.map((kind) => ({ kind, title: kindOf(kind).title }))
    const body = JSON.stringify({ errors, operations, accountKinds, events })
    return () => ({ body })
  },
})
