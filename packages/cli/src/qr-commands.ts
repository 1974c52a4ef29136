import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { printJson } from './print.ts'
import { addRemoteQrCommands } from './remote-qr-commands.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

export function addQrCommands(program: Command): void {
  const qr = program.command('qr').description('work with UPI QR codes')
  addRemoteQrCommands(qr)
  qr.command('doctor <stringOrFile>')
    .description('say, rule by rule, whether a UPI string or the PNG of a QR code is valid')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  svc qr doctor 'upi://pay?pa=shop@bank&pn=Shop&am=10.00&cu=INR'\n  svc qr doctor code.png`,
    )
    .action(doctor)
}

async function doctor(subject: string, { json }: Json): Promise<void> {
  const { diagnose } = await import('@svc/upi-qr/qr-doctor')
  const diagnosis = diagnose(
    /^[a-z][a-z0-9+.-]*:/i.test(subject) ? { text: subject } : { image: await readImage(subject) },
  )
  if (json) printJson(diagnosis)
  else {
    if (diagnosis.text !== undefined) process.stdout.write(`${diagnosis.text}\n\n`)
    for (const { rule, ok, level, detail } of diagnosis.findings)
      process.stdout.write(`${ok ? 'ok     ' : level.padEnd(7)}  ${rule}: ${detail}\n`)
    process.stdout.write(`\n${diagnosis.valid ? 'Valid: every UPI app should read it.' : 'Not valid.'}\n`)
  }
  if (!diagnosis.valid) process.exitCode = 1
}

async function readImage(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`Cannot read ${file} (${code}). Give a upi://pay string or the path of a PNG file.`)
  }
}
