import { Type } from 'typebox'
import { FAILURES } from '../errors.ts'
import { EVENTS } from '../events.ts'
import { OPERATIONS } from '../operations.ts'
import { query } from '../platform/http/operation.ts'
import { CONSOLE_API, closed, consoleOperation, record, text } from './console-schema.ts'

/** Words, operations and events of the API, for the page's select boxes. */
export const showCatalogue = query({
  ...consoleOperation,
  id: 'showCatalogue',
  method: 'GET',
  path: `${CONSOLE_API}/catalogue`,
  tag: 'Requests',
  summary: 'Error words, operations and events of the API',
  role: 'viewer',
  result: closed({
    errors: Type.Array(record('ErrorWord', { error: text(), status: Type.Integer(), description: text() })),
    operations: Type.Array(record('ApiOperation', { id: text(), summary: text() })),
    events: Type.Array(record('EventKind', { type: text(), description: text('When it happens') })),
  }),
  errors: [],

  mount: () => {
    const errors = Object.entries(FAILURES).map(([error, { status, description }]) => ({
      error,
      status,
      description,
    }))
    const operations = OPERATIONS.filter(({ tag }) => tag !== 'Running it').map(({ id, summary }) => ({
      id,
      summary,
    }))
    const events = Object.entries(EVENTS).map(([type, { description }]) => ({ type, description }))
    const body = JSON.stringify({ errors, operations, events })
    return () => ({ body })
  },
})
