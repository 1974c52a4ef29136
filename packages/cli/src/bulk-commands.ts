import { readConfig } from '@svc/contract/config'
import { largestFirstLoad, loadTermsOf } from '@svc/core/cards/card/load-limits'
import { encrypt } from '@svc/jwe/jwe'
import type { Command } from 'commander'
import { type AccessOptions, accessOf, type BulkPartner, withAccess } from './bulk-access.ts'
import { BulkClient, type BulkResult } from './bulk-client.ts'
import { readCsvOrders } from './bulk-csv.ts'
import { addBulkLoadCommand } from './bulk-load-command.ts'
import { resultsFile, resultsOf, shower, writeResults } from './bulk-results.ts'
import {
  type Chunk,
  hashOf,
  type IssueState,
  linesOf,
  readState,
  toChunks,
  writeState,
} from './bulk-state.ts'
import { printJson } from './print.ts'
import { readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

interface IssueOptions extends AccessOptions {
  readonly file: string
  readonly account?: string
  readonly company?: string
  readonly json?: boolean
}

/** `svc cards issue`, under the `cards` command of another file. */
export function addBulkCommands(program: Command): void {
  const card =
    program.commands.find((command) => command.name() === 'cards') ??
    program.command('cards').description('work with cards')
  withAccess(card.command('issue'))
    .description('issue a gift card for every row of a CSV file; run again after an interruption to go on')
    .requiredOption(
      '--file <csv>',
      'first line: names of the fields of an order; an empty cell leaves its field out',
    )
    .option('--account <cardAccountId>', 'card account of the rows that name none')
    .option('--company <companyId>', 'company of the rows that name none')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
All rows are checked before the first is sent. What came of each is written to <csv>.results.csv; the JWEs are kept in
<csv>.issue.json, so that a second run sends the same ones: each counts once.

Examples:
  svc cards issue --file orders.csv --sandbox
  svc cards issue --file orders.csv --sandbox --partner rewardsPartner
  svc cards issue --file orders.csv --key partner.json --url https://cards.example.com`,
    )
    .action(issue)
  addBulkLoadCommand(card)
}

type Access = BulkPartner & Record<'companyId' | 'cardAccountId', string | undefined>

async function issue(options: IssueOptions): Promise<void> {
  const { file, json = false } = options
  const found = await accessOf(options)
  const access: Access = {
    ...found,
    companyId: options.company ?? found.companyId,
    cardAccountId: options.account ?? found.cardAccountId,
  }
  const text = await readText(file, 'a CSV file')
  const state =
    (await readState(file, access.partnerId, hashOf(text))) ?? (await encryptAll(file, text, access))
  const client = new BulkClient(access)
  const total = state.chunks.reduce((sum, { rows }) => sum + rows.length, 0)
  const show = json ? () => undefined : shower('Issuing cards', 'orders', total)
  const results: (BulkResult & { line: number })[] = []
  for (const chunk of state.chunks) {
    const before = results.length
    results.push(...(await carryOut(client, file, state, chunk, (done) => show(before + done))))
  }
  show(total, true)
  await writeResults(file, results)
  const issued = results.filter(({ status }) => status === 'ISSUED').length
  const failed = total - issued
  if (json) printJson({ rows: total, issued, failed, results: resultsFile(file) })
  else process.stdout.write(`${issued} cards issued, ${failed} orders failed. See ${resultsFile(file)}\n`)
  if (failed > 0) process.exitCode = 1
}

/** Checks every row, then encrypts all of them and stores the JWEs before the first is sent. */
async function encryptAll(file: string, text: string, access: Access): Promise<IssueState> {
  const { companyId, cardAccountId, sharedKey, partnerId } = access
  const defaults = {
    ...(companyId !== undefined && { companyId }),
    ...(cardAccountId !== undefined && { cardAccountId }),
  }
  const loadMaxPaise = largestFirstLoad(loadTermsOf(readConfig(process.env)))
  const { orders, problems } = readCsvOrders(text, defaults, loadMaxPaise)
  if (problems.length > 0)
    throw new UsageError(
      `${file} has ${problems.length === 1 ? 'an error' : `${problems.length} errors`}; nothing was sent.\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    )
  const rows: [number, string][] = []
  for (const { line, order } of orders)
    rows.push([line, await encrypt(Buffer.from(JSON.stringify(order)), sharedKey)])
  const state: IssueState = { version: 1, partnerId, fileHash: hashOf(text), chunks: toChunks(rows) }
  await writeState(file, state)
  return state
}

/** Sends a chunk unless that was done before, and waits for its job; returns what came of its rows. */
async function carryOut(
  client: BulkClient,
  file: string,
  state: IssueState,
  chunk: Chunk,
  onDone: (done: number) => void,
): Promise<(BulkResult & { line: number })[]> {
  if (chunk.jobId === undefined) {
    const lines = linesOf(chunk)
    // The same JWEs and key: if the response is lost, the next run gets the same job.
    chunk.jobId = await client.upload(lines, `issue-${hashOf(lines)}`)
    await writeState(file, state)
  }
  const results = await resultsOf(client, chunk.jobId, onDone)
  return results.map((result) => ({ ...result, line: chunk.rows[result.row - 1]![0] }))
}
