import { UsageError } from './cli/context.ts'
import { newProgram } from './cli/program.ts'
import { ConfigError } from './config.ts'

try {
  await newProgram().parseAsync()
} catch (error) {
  // What people can mend is told in words; the rest keeps its stack.
  const known = error instanceof UsageError || error instanceof ConfigError
  const detail =
    error instanceof Error ? (known || !process.env['DEBUG'] ? error.message : error.stack) : String(error)
  process.stderr.write(`${detail}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
