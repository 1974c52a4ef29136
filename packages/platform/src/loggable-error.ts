import pg from 'pg'
import { pino } from 'pino'

/** Fields of a PostgreSQL error that name objects of the schema. All others may quote rows, parameters or statements. */
const NAMES = [
  'code',
  'severity',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'position',
  'file',
  'line',
  'routine',
] as const

/** Class 22, data exceptions: their messages quote the value (PostgreSQL manual, appendix A). */
const DATA_EXCEPTION = /^22/
const CAUSES_MAX = 10

/** The message of an error, without values of rows and parameters. */
export const loggableMessage = (error: Error): string =>
  error instanceof pg.DatabaseError && DATA_EXCEPTION.test(error.code ?? '')
    ? 'data exception [value redacted]'
    : error.message

/** A copy of an error, and of those that it wraps, without values of rows and parameters. */
function withoutValues(error: unknown, depth = 0): unknown {
  if (Array.isArray(error)) return error.map((each) => withoutValues(each, depth))
  if (!(error instanceof Error)) return error
  if (depth === CAUSES_MAX) return undefined
  const message = loggableMessage(error)
  const stack = error.stack?.replace(error.message, () => message)
  const cause = withoutValues(error.cause, depth + 1)
  const errors = error instanceof AggregateError ? withoutValues(error.errors, depth + 1) : undefined
  const hidden = Object.entries({ message, stack, cause, errors }).map(([name, value]) => [name, { value }])
  const names = error instanceof pg.DatabaseError ? NAMES : Object.keys(error)
  const shown = names
    .filter((name) => !['message', 'stack', 'cause', 'errors'].includes(name))
    .map((name) => [name, withoutValues(error[name as keyof Error], depth + 1)])
  const copy = Object.create(Object.getPrototypeOf(error), Object.fromEntries(hidden))
  return Object.assign(copy, Object.fromEntries(shown))
}

/** For logs: an error as pino writes it, without values of rows and parameters. */
export const loggableError = (error: unknown): unknown =>
  error instanceof Error ? pino.stdSerializers.err(withoutValues(error) as Error) : error
