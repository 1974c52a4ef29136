import { createSecretKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { progress as progressBar } from '@clack/prompts'
import { readConfig } from '@svc/contract/config'
import { largestFirstLoad, loadTermsOf } from '@svc/core/cards/load-limits'
import { encrypt } from '@svc/jwe/jwe'
import type { JweKey } from '@svc/jwe/keys'
import { csvLine } from '@svc/kernel/csv'
import type { DemoPartner } from '@svc/server/sandbox/sandbox-file'
import { DEMO_PARTNER_NAMES, readSandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Command } from 'commander'
import { type BulkAccess, BulkClient, type BulkResult } from './bulk-client.ts'
import { readCsvOrders } from './bulk-csv.ts'
import {
  type Chunk,
  hashOf,
  type IssueState,
  linesOf,
  readState,
  resultsFile,
  toChunks,
  writeState,
} from './bulk-state.ts'
import { requireEncryptedWay } from './encrypted-way.ts'
import { printJson } from './print.ts'
import { parseJsonText, readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

interface IssueOptions {
  readonly file: string
  readonly sandbox?: boolean
  readonly key?: string
  readonly partner?: string
  readonly account?: string
  readonly company?: string
  readonly url?: string
  readonly json?: boolean
}

/** `svc cards issue`, under the `cards` command of another file. */
export function addBulkCommands(program: Command): void {
  const card =
    program.commands.find((command) => command.name() === 'cards') ??
    program.command('cards').description('work with cards')
  card
    .command('issue')
    .description('issue a gift card for every row of a CSV file; run again after an interruption to go on')
    .requiredOption(
      '--file <csv>',
      'first line: names of the fields of an order; an empty cell leaves its field out',
    )
    .option('--sandbox', 'as a demo partner of the sandbox, from sandbox.json in DATA_DIR')
    .option('--key <file>', 'as the partner of this JSON file, which looks like a partner in sandbox.json')
    .option('--partner <nameOrId>', 'which partner of sandbox.json; incentivePartner by default')
    .option('--account <cardAccountId>', 'card account of the rows that name none')
    .option('--company <companyId>', 'company of the rows that name none')
    .option('--url <url>', 'address of the service; by default as the file has it')
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
}

interface Access extends BulkAccess {
  readonly sharedKey: JweKey
  readonly companyId: string | undefined
  readonly cardAccountId: string | undefined
}

async function issue(options: IssueOptions): Promise<void> {
  const { file, json = false } = options
  const access = await accessOf(options)
  const text = await readText(file, 'a CSV file')
  const state =
    (await readState(file, access.partnerId, hashOf(text))) ?? (await encryptAll(file, text, access))
  const client = new BulkClient(access)
  const total = state.chunks.reduce((sum, { rows }) => sum + rows.length, 0)
  const show = json ? () => undefined : shower(total)
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

async function accessOf({
  sandbox = false,
  key,
  partner,
  account,
  company,
  url,
}: IssueOptions): Promise<Access> {
  if ((key === undefined) === !(sandbox || partner !== undefined))
    throw new UsageError('Give --key <file>, or --sandbox (with --partner to choose one of its partners).')
  const found = key === undefined ? await sandboxPartner(partner) : await partnerInFile(key)
  const baseUrl = (url ?? found.baseUrl)?.replace(/(?<!\/)\/+$/, '')
  if (baseUrl === undefined || !URL.canParse(baseUrl))
    throw new UsageError('Give the address of the service: --url <url>')
  requireEncryptedWay(new URL(baseUrl))
  const { kid, k } = found.sharedKey
  return {
    ...found,
    baseUrl,
    sharedKey: { kid, alg: 'A256KW', enc: 'A256GCM', key: createSecretKey(Buffer.from(k, 'base64url')) },
    companyId: company ?? found.companyId,
    cardAccountId: account ?? found.cardAccountId,
  }
}

type Found = Omit<DemoPartner, 'userId' | 'companyId' | 'cardAccountId'> &
  Partial<Pick<DemoPartner, 'companyId' | 'cardAccountId'>> & { readonly baseUrl?: string }

async function sandboxPartner(wanted = 'incentivePartner'): Promise<Found> {
  const { DATA_DIR } = readConfig(process.env)
  const known = await readSandboxFile(DATA_DIR)
  if (!known)
    throw new UsageError(`There is no ${sandboxFile(DATA_DIR)}. Start the sandbox once with: svc serve`)
  const names = DEMO_PARTNER_NAMES
  const name = names.find((each) => each === wanted || known[each].partnerId === wanted)
  if (!name) throw new UsageError(`--partner must be one of ${names.join(', ')}, or the id of one`)
  return { baseUrl: known.baseUrl, ...known[name] }
}

const PARTNER_FILE =
  'a JSON file with partnerId, clientId, clientSecret and sharedKey {kid, k}, like a partner in sandbox.json'

async function partnerInFile(file: string): Promise<Found> {
  const found = parseJsonText(await readText(file, PARTNER_FILE), PARTNER_FILE) as Partial<Found> | null
  const texts = [
    found?.partnerId,
    found?.clientId,
    found?.clientSecret,
    found?.sharedKey?.kid,
    found?.sharedKey?.k,
  ]
  if (!texts.every((text) => typeof text === 'string')) throw new UsageError(`${file} is not ${PARTNER_FILE}`)
  if (Buffer.from(found!.sharedKey!.k, 'base64url').length !== 32)
    throw new UsageError(`${file}: sharedKey.k must be 32 bytes in base64url`)
  return found as Found
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

const POLL_MS = 300

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
  for (;;) {
    const { status, done } = await client.progress(chunk.jobId)
    onDone(done)
    if (status === 'DONE') break
    await sleep(POLL_MS)
  }
  const results = await client.results(chunk.jobId)
  return results.map((result) => ({ ...result, line: chunk.rows[result.row - 1]![0] }))
}

/** A bar on a terminal; elsewhere a plain line whenever another tenth is done. */
function shower(total: number): (done: number, end?: boolean) => void {
  let shown = 0
  if (!process.stderr.isTTY)
    return (done) => {
      if (Math.floor((done * 10) / total) <= Math.floor((shown * 10) / total)) return
      shown = done
      process.stderr.write(`${done} of ${total} orders done\n`)
    }
  const bar = progressBar({ max: total, output: process.stderr })
  bar.start('Issuing cards')
  return (done, end = false) => {
    bar.advance(done - shown, `${done} of ${total} orders done`)
    shown = done
    if (end) bar.stop(`${total} orders done`)
  }
}

async function writeResults(
  file: string,
  results: readonly (BulkResult & { line: number })[],
): Promise<void> {
  const header = csvLine(['line', 'status', 'svcCardId', 'error', 'errorDescription'])
  const lines = results.map(({ line, status, svcCardId, error, errorDescription }) =>
    csvLine([line, status, svcCardId, error, errorDescription]),
  )
  await writeFile(resultsFile(file), [header, ...lines].join(''))
}
