import { nameHelp } from './program-parts.ts'
import { newRemoteProgram } from './remote-program.ts'
import { describeError, throwUsageErrors, wantsJson } from './report-error.ts'

const json = wantsJson(process.argv)
try {
  const program = nameHelp(await newRemoteProgram(process.argv.slice(2)))
  if (json) throwUsageErrors(program)
  await program.parseAsync()
} catch (error) {
  const { text, exitCode } = describeError(error, json)
  process.stderr.write(text)
  process.exitCode = exitCode
}
