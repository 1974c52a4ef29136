import { explainDatabaseError } from './explain-database-error.ts'
import { nameHelp } from './program-parts.ts'
import { describeError, throwUsageErrors, wantsJson } from './report-error.ts'

const json = wantsJson(process.argv)
// The reader of the output may stop early, such as `head`: the command ends as it would have.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
try {
  if (process.argv.length === 3 && process.argv[2] === 'serve') {
    // The usual case goes straight there: loading every other command would take half a second of the start.
    const { serve } = await import('@svc/app/main')
    process.exitCode = await serve(process.env)
  } else {
    const { newProgram } = await import('./program.ts')
    const program = nameHelp(await newProgram(process.argv.slice(2)))
    if (json) throwUsageErrors(program)
    await program.parseAsync()
  }
} catch (error) {
  const { text, exitCode } = describeError(error, json, explainDatabaseError)
  process.stderr.write(text)
  process.exitCode = exitCode
}
