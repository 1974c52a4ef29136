import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { type AccessOptions, accessOf, withAccess } from './bulk-access.ts'
import { BulkClient } from './bulk-client.ts'
import { readCsvLoads } from './bulk-csv.ts'
import { type LineResult, resultsFile, resultsOf, shower, writeResults } from './bulk-results.ts'
import { linesOf, toChunks } from './bulk-state.ts'
import { printJson } from './print.ts'
import { readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

interface LoadOptions extends AccessOptions {
  readonly file: string
  readonly json?: boolean
}

/** `svc cards load`: needs no state of its own, since a reference names one load. */
export function addBulkLoadCommand(card: Command): void {
  withAccess(card.command('load'))
    .description('load the card of every row of a CSV file; run again after an interruption to go on')
    .requiredOption(
      '--file <csv>',
      'first line: svcCardId, amount (rupees), referenceNumber and, if you like, reason',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
All rows are checked before the first is sent. What came of each is written to <csv>.results.csv. Each referenceNumber
names one load: a second run loads nothing twice, and rows that failed are tried again.

Examples:
  svc cards load --file april.csv --sandbox --partner rewardsPartner
  svc cards load --file april.csv --key partner.json --url https://cards.example.com`,
    )
    .action(load)
}

async function load(options: LoadOptions): Promise<void> {
  const { file, json = false } = options
  const client = new BulkClient(await accessOf(options))
  const { loads, problems } = readCsvLoads(await readText(file, 'a CSV file'))
  if (problems.length > 0)
    throw new UsageError(
      `${file} has ${problems.length === 1 ? 'an error' : `${problems.length} errors`}; nothing was sent.\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    )
  const total = loads.length
  const show = json ? () => undefined : shower('Loading cards', 'loads', total)
  const results: LineResult[] = []
  for (const { rows } of toChunks(loads.map(({ line, load }) => [line, JSON.stringify(load)] as const))) {
    const before = results.length
    const lines = linesOf({ rows })
    // A key of this run: rows that failed in a run before, such as for want of funds, are tried again.
    const jobId = await client.upload(lines, `load-${randomUUID()}`, 'loads')
    const outcomes = await resultsOf(client, jobId, (done) => show(before + done))
    results.push(...outcomes.map((result) => ({ ...result, line: rows[result.row - 1]![0] })))
  }
  show(total, true)
  await writeResults(file, results, ['svcCardId', 'loadId'])
  const loaded = results.filter(({ status }) => status === 'LOADED').length
  const failed = total - loaded
  if (json) printJson({ rows: total, loaded, failed, results: resultsFile(file) })
  else process.stdout.write(`${loaded} cards loaded, ${failed} loads failed. See ${resultsFile(file)}\n`)
  if (failed > 0) process.exitCode = 1
}
