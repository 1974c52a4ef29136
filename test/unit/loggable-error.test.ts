import { Writable } from 'node:stream'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import { expect, test } from 'vitest'

const CANARY = 'canary.personal@example.com'

/** What the log says of an error. */
function logged(error: unknown): string {
  let text = ''
  const destination = new Writable({ write: (line, _, done) => ((text += line), done()) })
  openLog('info', destination).error({ err: error }, 'failed')
  return text
}

function databaseError(code: string, message: string): pg.DatabaseError {
  const values = {
    code,
    detail: `Key (email)=(${CANARY})`,
    where: CANARY,
    internalQuery: CANARY,
    hint: CANARY,
  }
  return Object.assign(new pg.DatabaseError(message, 0, 'error'), values, { constraint: 'users_email_key' })
}

test.each([
  ['itself', (error: Error) => error],
  ['the cause of another', (error: Error) => new Error('outer', { cause: error })],
  ['one of several', (error: Error) => new AggregateError([error, new Error('another')], 'outer')],
  ['a property of another', (error: Error) => Object.assign(new Error('outer'), { original: error })],
  ['the cause of a cause', (error: Error) => new Error('a', { cause: new Error('b', { cause: error }) })],
])('a database error that is %s is logged by its code and constraint, without values', (_, wrap) => {
  for (const error of [
    databaseError('23505', 'duplicate key value violates unique constraint "users_email_key"'),
    databaseError('22P02', `invalid input syntax for type integer: "${CANARY}"`),
  ]) {
    const text = logged(wrap(error))
    expect(text).toContain(String(error.code).startsWith('22') ? '[value redacted]' : 'users_email_key')
    expect(text).not.toContain(CANARY)
  }
})

test('other errors are logged with message, stack, causes and their own fields', () => {
  const cause = Object.assign(new Error('socket'), { code: 'ECONNRESET' })
  const { err } = JSON.parse(logged(Object.assign(new TypeError('broken', { cause }), { attempt: 2 })))
  expect(err).toMatchObject({ type: 'TypeError', message: 'broken: socket', attempt: 2 })
  expect(err.stack).toMatch(/TypeError: broken\n {4}at .*caused by: Error: socket\n/s)
})

test('an error that is its own cause is logged', () => {
  const error = new Error('circular')
  error.cause = error
  expect(logged(error)).toContain('circular')
})
