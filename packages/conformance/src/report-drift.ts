import type { Difference } from './drift.ts'
import { shorten } from './http.ts'
import { Redactor } from './redact.ts'

/** Differences as lines for people: one each, and the setting that explains it. */
export function driftText(differences: readonly Difference[]): string {
  if (differences.length === 0) return '✓ No differences in anything that the checks ask\n'
  const lines = differences.map((difference, i) => `${String(i + 1).padStart(2)}  ${lineOf(difference)}`)
  return `✗ ${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}\n\n${lines.join('\n')}\n`
}

function lineOf({ operations, what, server, reference, reading }: Difference): string {
  const [first = 'the server'] = operations
  const where = operations.length > 1 ? `${operations.length} operations` : first
  if (reading) {
    const { setting, section } = reading
    const plain = what === 'check' ? server : `${where}: ${what} is ${server}, of the reference ${reference}`
    return `section ${section} is read as ${setting}=${reading.server}, by the reference as ${reading.reference}: ${clean(plain)}`
  }
  return clean(what === 'check' ? server : `${where}: ${what} is ${server}, of the reference ${reference}`)
}

/** Tokens, API keys and card numbers that a response contains reach no report. */
const redactor = new Redactor()
const clean = (text: string): string => shorten(redactor.redact(text))

/** The same for programs. */
export const driftJson = (differences: readonly Difference[]): object => ({
  differences: differences.map(({ server, reference, ...rest }) => ({
    ...rest,
    server: clean(server),
    reference: clean(reference),
  })),
})
