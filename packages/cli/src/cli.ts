import { ConfigError } from '@svc/contract/config'
import { UsageError } from './usage-error.ts'

try {
  if (process.argv.length === 3 && process.argv[2] === 'serve') {
    // The usual case goes straight there: loading every other command would take half a second of the start.
    const { serve } = await import('@svc/app/main')
    process.exitCode = await serve(process.env)
  } else {
    const { newProgram } = await import('./program.ts')
    await newProgram().parseAsync()
  }
} catch (error) {
  // Mistakes of the user are reported in one line; other errors with their stack.
  const known = error instanceof UsageError || error instanceof ConfigError
  const detail =
    error instanceof Error ? (known || !process.env['DEBUG'] ? error.message : error.stack) : String(error)
  process.stderr.write(`${detail}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
