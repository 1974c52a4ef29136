import { UsageError } from './cli/usage-error.ts'
import { ConfigError } from './config.ts'

try {
  if (process.argv.length === 3 && process.argv[2] === 'serve') {
    // The usual case goes straight there: loading every other command would take half a second of the start.
    const { serve } = await import('./main.ts')
    process.exitCode = await serve(process.env)
  } else {
    const { newProgram } = await import('./cli/program.ts')
    await newProgram().parseAsync()
  }
} catch (error) {
  // What people can mend is told in words; the rest keeps its stack.
  const known = error instanceof UsageError || error instanceof ConfigError
  const detail =
    error instanceof Error ? (known || !process.env['DEBUG'] ? error.message : error.stack) : String(error)
  process.stderr.write(`${detail}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
