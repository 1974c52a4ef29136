import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { HANDED_ON } from '@svc/server/http/observe'
import { OPERATIONS } from '@svc/server/operations'
import { expect, test } from 'vitest'

const CONSOLE = 'console.'
/** Names by which metrics count what is no operation. */
const OTHERS = ['none', 'openapi', 'docs', HANDED_ON]

test('no two operations of the program share an id: those of the API, of the console and the probes', () => {
  const ids = [...OPERATIONS, ...CONSOLE_OPERATIONS].map(({ id }) => id)
  const twice = [...ids, ...OTHERS].filter((id, i, all) => all.indexOf(id) !== i)
  expect(twice).toEqual([])
})

test('the id of every operation of the console shows it, and no other does', () => {
  expect(CONSOLE_OPERATIONS.filter(({ id }) => !id.startsWith(CONSOLE)).map(({ id }) => id)).toEqual([])
  expect(OPERATIONS.filter(({ id }) => id.startsWith(CONSOLE)).map(({ id }) => id)).toEqual([])
})
