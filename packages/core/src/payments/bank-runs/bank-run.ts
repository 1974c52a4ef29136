import type { IdPrefix } from '@svc/contract/id-kinds'
import { csvLine, csvText } from '@svc/kernel/csv'
import { inWindows } from '@svc/kernel/in-windows'
import type { Paise } from '@svc/kernel/money'
import type { Commands } from '@svc/platform/command'
import type { Database, Tx } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'
import { FileRejected } from '../../bank-files/file-source.ts'
import type { BankOutcome, BankResponse } from '../../bank-files/response-rows.ts'
import type { By } from '../payouts/take-step.ts'

/** How many are read at a time. */
export const CHUNK = 1_000
/** How many are carried out at a time: they go together into batches. All may be of one tenant (`TENANT_QUEUE_MAX`). */
export const WINDOW = 8

export interface BankRunTools {
  readonly commands: Commands
  readonly database: Database
  readonly newId: (prefix: IdPrefix) => string
}

/** A run: what was sent to the bank in one file. */
export interface BankRun {
  readonly runId: string
  readonly count: number
  readonly amountPaise: Paise
  readonly sentAt: Date
  /** How many the bank has not said anything final of. */
  readonly open: number
}

/** The runs of a table, the newest first. */
export const runsOf = (name: string, table: 'payouts' | 'merchant_refunds'): Statement<BankRun> =>
  statement<BankRun>(
    `${name}_runs`,
    `select r.run_id as "runId", count(*)::int as count, sum(r.amount_paise)::bigint as "amountPaise",
       max(r.sent_at) as "sentAt", count(*) filter (where r.status = 'SENT')::int as open
     from ${table} r where r.run_id is not null group by r.run_id order by r.run_id desc limit $1`,
  )

export interface BankField<Row> {
  of(row: Row): string
  /** Why the bank could not read it. */
  readonly problemOf?: (text: string) => string | undefined
}

/** What goes to the bank in files, and how the bank speaks of it: payouts, refunds. */
export interface BankRuns<Row> {
  readonly name: 'payout' | 'refund'
  /** Those that are sent next. */
  readonly waiting: 'approved' | 'pending'
  readonly runIdPrefix: IdPrefix
  /** What the file can say of one of them. */
  readonly fields: Readonly<Record<string, BankField<Row>>>
  idOf(row: Row): string
  amountOf(row: Row): Paise
  /** Of those that are sent next, at most `CHUNK` behind this id, in the order of ids. */
  readonly listWaiting: (tx: Tx, afterId: string) => Promise<Row[]>
  readonly ofRun: (tx: Tx, runId: string) => Promise<Row[]>
  /** The newest first. */
  readonly runs: (tx: Tx, limit: number) => Promise<BankRun[]>
  /** Each outcome by its name, with the words that banks usually have for it, separated by commas. */
  readonly outcomes: Readonly<Record<string, readonly [outcome: BankOutcome, words: string]>>
  /** What recording a response would do. */
  readonly preview: (database: Database, response: BankResponse) => Promise<Became>
}

/** What became of a response, or would: the state of what it is of, or why nothing was recorded. */
export interface Became {
  readonly result: string
  /** Whether nothing is left to do. */
  readonly isDone: boolean
}

/** What the files do. */
export interface BankRunSteps<Row> {
  /** One that another run takes meanwhile stays in that run. */
  sendOne(commands: Commands, row: Row, runId: string, by: By): Promise<unknown>
  /** Records a response of a file, by its SHA-256, and says what became of it. */
  readonly record: (
    tools: Pick<BankRunTools, 'commands' | 'database'>,
    response: BankResponse,
    by: By & { readonly file: string },
  ) => Promise<Became>
}

/** Both kinds: rows are passed back only to the runs that they are of. */
export type AnyBankRuns = BankRuns<unknown>
export type AnyBankRunSteps = BankRunSteps<unknown>

/** A column of the file: a field, under the heading that the bank wants. */
export interface FileColumn {
  readonly field: string
  readonly header: string
}

/**
 * Columns in order as people write them, `field` or `field=HEADING` separated by commas; without a text each field under its
 * own name. Throws `FileRejected`.
 */
export function columnsOf({ fields }: AnyBankRuns, text?: string): readonly FileColumn[] {
  const names = Object.keys(fields)
  if (text === undefined) return names.map((field) => ({ field, header: field }))
  return text.split(',').map((part) => {
    const [field = '', header = field] = part.trim().split('=')
    if (!names.includes(field))
      throw new FileRejected(`Each column must be one of ${names.join(', ')}, or such as amount=AMOUNT`)
    return { field, header }
  })
}

/** What the file cannot contain of one of them: a changed reference or address would be another one. */
export function problemOf<Row>(
  { fields }: BankRuns<Row>,
  columns: readonly FileColumn[],
  row: Row,
): string | undefined {
  for (const { field } of columns) {
    const { of, problemOf } = fields[field]!
    const text = of(row)
    const asWritten = csvText(text) === text ? undefined : 'contains a line break or is a formula'
    const problem = problemOf?.(text) ?? asWritten
    if (problem !== undefined) return `${field} ${JSON.stringify(text)} ${problem}`
  }
  return undefined
}

/** One that waits, and what the file cannot contain of it. */
interface Waiting<Row> {
  readonly row: Row
  readonly problem: string | undefined
}

/** All that are sent next, for a file with these columns. */
export async function* waitingRows<Row>(
  of: BankRuns<Row>,
  database: Database,
  columns: readonly FileColumn[],
): AsyncGenerator<Waiting<Row>> {
  for (let afterId = ''; ; ) {
    const rows = await database.operate((tx) => of.listWaiting(tx, afterId))
    for (const row of rows) yield { row, problem: problemOf(of, columns, row) }
    const last = rows.at(-1)
    if (!last || rows.length < CHUNK) return
    afterId = of.idOf(last)
  }
}

/** What was sent, and what waits on since the file cannot contain it. */
export interface SentRun {
  readonly runId: string
  readonly leftOut: readonly { readonly id: string; readonly problem: string }[]
}

/** Marks all that wait as sent, in a new run. */
export async function sendRun<Row>(
  of: BankRuns<Row>,
  { sendOne }: Pick<BankRunSteps<Row>, 'sendOne'>,
  {
    tools: { commands, database, newId },
    columns,
  }: { readonly tools: BankRunTools; readonly columns: readonly FileColumn[] },
  by: By,
): Promise<SentRun> {
  const runId = newId(of.runIdPrefix)
  const leftOut: { id: string; problem: string }[] = []
  const fitting = async function* () {
    for await (const { row, problem } of waitingRows(of, database, columns)) {
      if (problem === undefined) yield row
      else leftOut.push({ id: of.idOf(row), problem })
    }
  }
  const windows = { size: WINDOW, keyOf: (row: Row) => of.idOf(row) }
  for await (const _ of inWindows(fitting(), windows, (row) => sendOne(commands, row, runId, by)));
  return { runId, leftOut }
}

/** Of a run those that a file with these columns can contain, which were perhaps not those it was sent with. */
export const fittingRows = <Row>(
  of: BankRuns<Row>,
  rows: readonly Row[],
  columns: readonly FileColumn[],
): readonly Row[] => rows.filter((row) => problemOf(of, columns, row) === undefined)

/** A run as the file for the bank, with a heading. */
export function* bankFileOf<Row>(
  of: BankRuns<Row>,
  rows: readonly Row[],
  columns: readonly FileColumn[],
): Generator<string> {
  yield csvLine(columns.map(({ header }) => header))
  for (const row of fittingRows(of, rows, columns))
    yield csvLine(columns.map(({ field }) => of.fields[field]!.of(row)))
}
