import { printRows } from '@svc/cli/print'
import type { Report } from './run.ts'

/** The report for people: faults, what was acknowledged and found, and all that is wrong. */
export function printReport({
  seed,
  seconds,
  faults,
  attempts,
  unsettled,
  acceptedP99Ms,
  logged,
  verdict,
  broken,
}: Report): void {
  console.log(
    `\nSeed ${seed}, ${seconds} s. Attempts: ${list(attempts)}; ${unsettled} requests unsettled; p99 of those that succeeded ${acceptedP99Ms} ms.\n`,
  )
  printRows(
    faults.map(({ name, injected, survived, skipped }) => ({ fault: name, injected, survived, skipped })),
    false,
  )
  for (const { name, figures } of faults)
    for (const [what, { median, max }] of Object.entries(figures))
      console.log(`${name}: ${what}: median ${median}, largest ${max}`)
  console.log('')
  printRows(
    verdict.counts.map((count) => ({ ...count })),
    false,
  )
  const { events, replays, history } = verdict
  console.log(`Events: ${events.committed} committed, ${events.received} received.`)
  console.log(
    `Repeats: ${replays.repeats} at once while faults went on, ${replays.sent} at the end, ${Object.values(replays.different).reduce((sum, times) => sum + times, 0)} answered otherwise.`,
  )
  console.log(
    `Histories: ${history.operations} operations on ${history.objects} objects, ${history.anomalies.length} without a serial order.`,
  )
  console.log(`Reconciliation: ${verdict.reconciled ? 'the books add up' : 'DIFFERENCES'}.`)
  if (Object.keys(logged).length > 0) console.log(`Logged as errors: ${list(logged)}`)
  const all = [...broken, ...verdict.broken]
  console.log(
    all.length === 0
      ? '\nNothing lost, nothing doubled.'
      : `\nBROKEN:\n${all.map((what) => `  ${what}`).join('\n')}`,
  )
}

const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, times]) => `${what} ${times}`)
    .join(', ')
