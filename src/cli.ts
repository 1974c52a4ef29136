import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { UsageError, withInstallation } from './cli/context.ts'
import { addKeyCommands, addMerchantCommands } from './cli/merchant-commands.ts'
import { printJson } from './cli/print.ts'
import { ConfigError } from './config.ts'
import { type Reconciliation, reconcile } from './ledger/reconcile.ts'
import { PAYMENT_CHECKS } from './qr-codes/reconcile-payments.ts'
import { VERSION } from './version.ts'

interface Json {
  readonly json?: boolean
}

const program = new Command('svc')
  .description('Partner service: merchant tokens and UPI QR codes.')
  .version(VERSION)
  .showHelpAfterError('See: svc --help')
  .addHelpText(
    'after',
    `
Examples:
  svc serve                                     run the service (the same as npm start)
  svc merchant create --name "Corner Shop" --vpa corner.shop@bank --mcc 5411
  svc reconcile                                 prove that the books add up
  svc qr doctor code.png                        is this QR code one that every UPI app reads?

Settings come from the environment; docs/reference/settings.md lists them.`,
  )

program
  .command('serve')
  .description('run the service until SIGTERM or Ctrl-C')
  .action(async () => {
    const { serve } = await import('./main.ts')
    process.exitCode = await serve(process.env)
  })

program
  .command('migrate')
  .description('bring the database to the newest schema (serve does it too)')
  .option('--json', 'print JSON')
  .action(async ({ json }: Json) => {
    await withInstallation(async () => undefined)
    if (json) printJson({ ok: true })
    else process.stdout.write('The schema is up to date.\n')
  })

addMerchantCommands(program)
addKeyCommands(program)

program
  .command('reconcile')
  .description('prove that the ledger adds up and fits the payments; exit code 1 if it does not')
  .option('--json', 'print JSON')
  .action(async ({ json }: Json) => {
    const result = await withInstallation(({ database }) => reconcile(database, PAYMENT_CHECKS))
    if (json) printJson(result)
    else printReconciliation(result)
    if (!result.ok) process.exitCode = 1
  })

program
  .command('qr')
  .description('work with UPI QR codes')
  .command('doctor <stringOrFile>')
  .description('say, rule by rule, whether a UPI string or the PNG of a QR code is valid')
  .option('--json', 'print JSON')
  .addHelpText('after', `\nExamples:\n  svc qr doctor 'upi://pay?pa=shop@bank&pn=Shop&am=10.00&cu=INR'\n  svc qr doctor code.png`)
  .action(async (subject: string, { json }: Json) => {
    const { diagnose } = await import('./qr-codes/qr-doctor.ts')
    const diagnosis = diagnose(/^[a-z][a-z0-9+.-]*:/i.test(subject) ? { text: subject } : { image: await readImage(subject) })
    if (json) printJson(diagnosis)
    else {
      if (diagnosis.text !== undefined) process.stdout.write(`${diagnosis.text}\n\n`)
      for (const { rule, ok, level, detail } of diagnosis.findings)
        process.stdout.write(`${ok ? 'ok     ' : level.padEnd(7)}  ${rule}: ${detail}\n`)
      process.stdout.write(`\n${diagnosis.valid ? 'Valid: every UPI app should read it.' : 'Not valid.'}\n`)
    }
    if (!diagnosis.valid) process.exitCode = 1
  })

async function readImage(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`Cannot read ${file} (${code}). Give a upi://pay string or the path of a PNG file.`)
  }
}

function printReconciliation({ ok, accounts, transfers, checks }: Reconciliation): void {
  process.stdout.write(`${accounts} accounts, ${transfers} transfers\n`)
  for (const { check, ok: holds, differences } of checks) {
    process.stdout.write(`${holds ? 'ok  ' : 'FAIL'}  ${check}\n`)
    for (const { subject, detail } of differences) process.stdout.write(`        ${subject}: ${detail}\n`)
  }
  process.stdout.write(ok ? 'The books add up.\n' : 'The books do not add up.\n')
}

try {
  await program.parseAsync()
} catch (error) {
  // What people can mend is told in words; the rest keeps its stack.
  const known = error instanceof UsageError || error instanceof ConfigError
  const detail = error instanceof Error ? (known || !process.env['DEBUG'] ? error.message : error.stack) : String(error)
  process.stderr.write(`${detail}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
