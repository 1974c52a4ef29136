import { ConfigError } from '@svc/contract/config'
import { isUnavailable, sqlState } from '@svc/platform/db/unavailable'
import { type Command, CommanderError } from 'commander'
import { RemoteError, UsageError } from './usage-error.ts'

const EXIT_CONFIG = 2

/** Whether errors are for a program: `--json` anywhere before `--`. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}

/** Commander's own errors are thrown instead of printed, in every command. */
export function throwUsageErrors(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  for (const child of command.commands) throwUsageErrors(child)
}

/** What a person reads of an error, or with `json` a program; and the exit code. */
export function describeError(
  error: unknown,
  json: boolean,
): { readonly text: string; readonly exitCode: number } {
  if (error instanceof CommanderError && error.exitCode === 0) return { text: '', exitCode: 0 }
  const exitCode = exitCodeOf(error)
  if (json) return { text: `${JSON.stringify({ error: factsOf(error) })}\n`, exitCode }
  // Mistakes of the user are reported in one line; other errors with their stack.
  const isKnown = error instanceof UsageError || error instanceof ConfigError
  const text = isKnown || !process.env['DEBUG'] ? messageOf(error) : (error as Error).stack
  return { text: `${text}\n`, exitCode }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return EXIT_CONFIG
  return error instanceof RemoteError ? error.exitCode : 1
}

function factsOf(error: unknown): object {
  const message = messageOf(error).replace(/^error: /, '')
  if (error instanceof RemoteError) {
    const { code, status, requestId } = error
    return { code, message, ...(status && { status }), ...(requestId && { requestId }) }
  }
  if (error instanceof UsageError || error instanceof CommanderError) return { code: 'usage', message }
  return { code: error instanceof ConfigError ? 'settings' : 'internal', message }
}

/** SQLSTATE of a server that lets the login not in: class 28, and a database that is not there. */
const REFUSED = /^(?:28|3D000)/

/** What went wrong, in words; of the way to the database, which system errors do not name, also what to look at. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof UsageError || error instanceof ConfigError) return error.message
  if (REFUSED.test(sqlState(error) ?? ''))
    return `The database refuses the connection: ${error.message}. Login, password and database stand in DATABASE_URL, or the setting of this login.`
  if (!isUnavailable(error) || sqlState(error) !== undefined || isOfFile(error)) return error.message
  // A name with several addresses fails once for each, and the error of all has no message.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error, error.cause]
  const causes = errors.flatMap((each) => (each instanceof Error ? each.message : []))
  return `The database cannot be reached: ${causes.join(', ')}. Is PostgreSQL running where DATABASE_URL says?`
}

/** A socket and a file that are missing have one code. */
const isOfFile = ({ syscall }: NodeJS.ErrnoException): boolean =>
  syscall !== undefined && syscall !== 'connect' && syscall !== 'getaddrinfo'
