import { readFile } from 'node:fs/promises'
import type { Diagnosis } from '@svc/upi-qr/qr-doctor'
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
  const text = subject.trim()
  const diagnosis = diagnose(isText(text) ? { text } : { image: await readImage(subject) })
  if (json) printJson(diagnosis)
  else {
    if (diagnosis.text !== undefined) process.stdout.write(`${diagnosis.text}\n\n`)
    for (const { rule, ok, level, detail } of diagnosis.findings)
      process.stdout.write(`${ok ? 'ok     ' : level.padEnd(7)}  ${rule}: ${detail}\n`)
    process.stdout.write(`\n${verdict(diagnosis)}\n`)
  }
  if (!diagnosis.valid) process.exitCode = 1
}

function verdict({ valid, findings }: Diagnosis): string {
  if (!valid) return 'Not valid.'
  return findings.some(({ ok, level }) => !ok && level === 'warning')
    ? 'Valid, but not every UPI app may read it: see the warnings.'
    : 'Valid: every UPI app should read it.'
}

/** A scheme in front, or the fields of an EMVCo code such as BharatQR; anything else is the name of a file. */
const isText = (subject: string): boolean =>
  /^[a-z][a-z0-9+.-]*:/i.test(subject) || /^0002\d{6}/.test(subject)

async function readImage(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`Cannot read ${file} (${code}). Give a upi://pay string or the path of a PNG file.`)
  }
}
