import { ConfigError } from '@svc/contract/config'
import { Failure } from '@svc/contract/errors'
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

/** Says what went wrong, of an error that is none of the user. */
export type Explain = (error: Error) => string

/** What a person reads of an error, or with `json` a program; and the exit code. */
export function describeError(
  error: unknown,
  json: boolean,
  explain: Explain = ({ message }) => message,
): { readonly text: string; readonly exitCode: number } {
  if (error instanceof CommanderError && error.exitCode === 0) return { text: '', exitCode: 0 }
  const exitCode = exitCodeOf(error)
  if (json) return { text: `${JSON.stringify({ error: factsOf(error, explain) })}\n`, exitCode }
  // Mistakes of the user are reported in one line; other errors with their stack.
  const isKnown = error instanceof UsageError || error instanceof ConfigError
  const text = isKnown || !process.env['DEBUG'] ? messageOf(error, explain) : (error as Error).stack
  return { text: `${text}\n`, exitCode }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return EXIT_CONFIG
  return error instanceof RemoteError ? error.exitCode : 1
}

function factsOf(error: unknown, explain: Explain): object {
  const message = messageOf(error, explain).replace(/^error: /, '')
  if (error instanceof RemoteError) {
    const { code, status, requestId } = error
    return { code, message, ...(status && { status }), ...(requestId && { requestId }) }
  }
  if (error instanceof UsageError || error instanceof CommanderError) return { code: 'usage', message }
  // What the service itself refuses has the code that callers of the API get.
  if (error instanceof Failure) return { code: error.code, message }
  return { code: error instanceof ConfigError ? 'settings' : 'internal', message }
}

function messageOf(error: unknown, explain: Explain): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof UsageError || error instanceof ConfigError ? error.message : explain(error)
}
