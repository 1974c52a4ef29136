import { createHash } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { recordAudit } from '@svc/platform/audit'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { FileRejected } from '../bank-files/file-source.ts'
import type { StatementFile } from '../bank-files/statement-file.ts'
import type { StatementRow } from '../bank-files/statement-items.ts'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { type BankAccount, bankAccounts } from './bank-account.ts'
import { type MatchTools, matchChunk, proposeMatches } from './match-lines.ts'
import { type BankStatement, bankStatements, type StatementLine, statementLines } from './statement-line.ts'

const ROWS_A_CHUNK = 1_000

// Who holds it sees all lines that others imported.
const LOCK = statement(
  'bank_account_lock',
  `select pg_advisory_xact_lock(hashtextextended('bank_account ' || $1::text, 0))`,
)
const ACCOUNT = statement<BankAccount>(
  'bank_account_found',
  `select ${bankAccounts.columns} from bank_accounts b where b.tenant_id = 'house' and b.bank_account_id = $1`,
)
type Known = Pick<
  StatementLine,
  'bookedOn' | 'place' | 'amountPaise' | 'balancePaise' | 'reference' | 'narration' | 'statementId'
>
const KNOWN = `l.booked_on::text as "bookedOn", l.place, l.amount_paise as "amountPaise", l.balance_paise as "balancePaise",
  l.reference, l.narration, l.statement_id as "statementId"`
const LAST = statement<Known>(
  'statement_line_last',
  `select ${KNOWN} from statement_lines l where l.tenant_id = 'house' and l.bank_account_id = $1
   order by l.booked_on desc, l.place desc limit 1`,
)
const OF_DAY = statement<Known>(
  'statement_lines_of_day',
  `select ${KNOWN} from statement_lines l
   where l.tenant_id = 'house' and l.bank_account_id = $1 and l.booked_on = $2 order by l.place`,
)
const AT_PLACES = statement<Known>(
  'statement_lines_at_places',
  `select ${KNOWN} from statement_lines l where l.tenant_id = 'house' and l.bank_account_id = $1
     and (l.booked_on, l.place) in (select * from unnest($2::date[], $3::int[]))`,
)
const FOUND = statement<BankStatement>(
  'bank_statement_found',
  `select ${bankStatements.columns} from bank_statements s where s.tenant_id = 'house' and s.statement_id = $1`,
)
const COUNTS = statement<{ status: StatementLine['status']; count: bigint }>(
  'statement_lines_counts',
  `select l.status, count(*) as count from statement_lines l
   where l.tenant_id = 'house' and l.statement_id = $1 group by l.status`,
)

export interface StatementImport {
  readonly statementId: string
  readonly openingPaise: Paise
  readonly closingPaise: Paise
  readonly lines: number
  /** Lines that no statement had before; the other counts are of these. */
  readonly newLines: number
  readonly matched: number
  readonly differs: number
  readonly unmatched: number
}

export interface ImportTools extends MatchTools {
  readonly database: Database
  readonly random: RandomBytes
}

interface Importing {
  readonly bankAccountId: string
  /** Whom the audit names. */
  readonly by: string
}

/**
 * Imports a statement: the lines that no earlier one had, whole or not at all, and then what they are. Again, it changes
 * nothing but what has become known meanwhile. Throws `FileRejected` for one that does not follow the last one.
 */
export async function importStatement(
  tools: ImportTools,
  file: StatementFile,
  { bankAccountId, by }: Importing,
): Promise<StatementImport> {
  const { database } = tools
  const recorded = await database.operate(
    (tx) =>
      recordStatement(tx, file, { bankAccountId, by, random: tools.random, at: new Date(tools.nowMs()) }),
    'read committed',
    { actor: by },
    'long',
  )
  await matchOpenLines(tools)
  const counts = await database.report((tx) => tx.query(COUNTS, [recorded.statementId]))
  const count = (...statuses: string[]) =>
    counts
      .filter(({ status }) => statuses.includes(status))
      .reduce((sum, each) => sum + Number(each.count), 0)
  return {
    ...recorded,
    matched: count('MATCHED', 'RESOLVED'),
    differs: count('DIFFERS'),
    unmatched: count('UNMATCHED'),
  }
}

/** Matches all open lines, chunk by chunk, each in a transaction of its own. */
export async function matchOpenLines({ database, ...tools }: ImportTools): Promise<void> {
  let after: string | undefined = ''
  while (after !== undefined) {
    const from: string = after
    after = await database.operate((tx) => matchChunk(tx, from, tools))
  }
}

/** What importing would do, without doing it. */
export async function previewStatement(
  { database, random, nowMs }: ImportTools,
  file: StatementFile,
  { bankAccountId, by }: Importing,
): Promise<StatementImport> {
  return database.operate(
    async (tx) => {
      const sum = { matched: 0, differs: 0 }
      const taken = new Set<string>()
      const preview = async (lines: readonly StatementLine[]) => {
        const proposed = await proposeMatches(tx, lines, taken)
        for (const { status } of proposed) sum[status === 'MATCHED' ? 'matched' : 'differs']++
      }
      const of = { bankAccountId, by, random, at: new Date(nowMs()), preview }
      const found = await recordStatement(tx, file, of)
      return { ...found, ...sum, unmatched: found.newLines - sum.matched - sum.differs }
    },
    'read committed',
    { actor: by },
    'long',
  )
}

interface Recording extends Importing {
  readonly random: RandomBytes
  readonly at: Date
  /** Instead of recording them. */
  readonly preview?: (lines: readonly StatementLine[]) => Promise<void>
}

type Recorded = Pick<StatementImport, 'statementId' | 'openingPaise' | 'closingPaise' | 'lines' | 'newLines'>

async function recordStatement(tx: Tx, file: StatementFile, recording: Recording): Promise<Recorded> {
  const { bankAccountId, by, at, preview } = recording
  await tx.query(LOCK, [bankAccountId])
  const [account] = await tx.query(ACCOUNT, [bankAccountId])
  if (!account) return fail('bank_account_not_found')
  requireAccount(file, account)
  const statementId = idOf(file, bankAccountId)
  const of = {
    statementId,
    openingPaise: file.openingPaise,
    closingPaise: file.closingPaise,
    lines: file.lines,
  }
  const [before] = await tx.query(FOUND, [statementId])
  if (before) return { ...of, newLines: 0 }
  const placing = new Placing(account, await placeBefore(tx, account, file))
  let newLines = 0
  for await (const chunk of chunksOf(file.rows())) {
    const placed = chunk.map((row) => placing.place(row))
    const fresh = await freshLines(tx, placed, placing, bankAccountId)
    newLines += fresh.length
    const lines = fresh.map((row) => lineOf(row, account, statementId, recording))
    if (preview) await preview(lines)
    else statementLines.insert(tx, lines)
  }
  if (preview) return { ...of, newLines }
  bankStatements.insert(tx, [
    {
      ...of,
      tenantId: PLATFORM_TENANT,
      bankAccountId,
      through: file.through ?? null,
      lastPlace: placing.lastPlace,
      newLines,
      importedBy: by,
      importedAt: at,
    },
  ])
  recordAudit(tx, [
    {
      actor: by,
      action: 'statement.imported',
      target: statementId,
      details: { bankAccountId, lines: newLines },
    },
  ])
  return { ...of, newLines }
}

const idOf = ({ hash }: StatementFile, bankAccountId: string): string =>
  `stm_${createHash('sha256').update(`${bankAccountId} ${hash}`).digest('hex').slice(0, 26)}`

/** A statement of another account is a mistake that its number shows. */
function requireAccount(
  { accountNumber: stated }: StatementFile,
  { accountNumber, name }: BankAccount,
): void {
  if (stated !== undefined && !stated.endsWith(accountNumber.toUpperCase()))
    throw new FileRejected(
      `The statement is of an account that ends with ${stated.slice(-4)}, and not of ${name}`,
    )
}

interface PlacedRow extends StatementRow {
  readonly place: number
}

/** Gives lines their places in their days. */
class Placing {
  readonly last: Known | undefined
  readonly #account: BankAccount
  #day: string | undefined
  #place: number
  /** The balance that the next new line must follow. */
  balance: Paise
  isBeyond = false

  constructor(account: BankAccount, { day, place, last }: Begin) {
    this.#account = account
    this.#day = day
    this.#place = place
    this.last = last
    this.balance = last?.balancePaise ?? account.openingPaise
  }

  get lastPlace(): number {
    return this.#place
  }

  place(row: StatementRow): PlacedRow {
    if (row.bookedOn < this.#account.openedOn)
      throw new FileRejected(
        `Line ${row.line} is of ${row.bookedOn}, and the account begins on ${this.#account.openedOn}`,
      )
    this.#place = row.bookedOn === this.#day ? this.#place + 1 : 1
    this.#day = row.bookedOn
    return { ...row, place: this.#place }
  }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item
  return undefined
}

interface Begin {
  readonly day: string | undefined
  /** That of the line before the first one of the file. */
  readonly place: number
  readonly last: Known | undefined
}

const isSame = (one: Known, row: StatementRow): boolean =>
  one.amountPaise === row.amountPaise &&
  one.balancePaise === row.balancePaise &&
  one.reference === row.reference &&
  one.narration === row.narration

/**
 * Where the file begins among the lines that are known: behind the last one, or with one of them, where it overlaps. Its
 * opening balance is what the account had there, or it is refused.
 */
async function placeBefore(tx: Tx, account: BankAccount, file: StatementFile): Promise<Begin> {
  const [last] = await tx.query(LAST, [account.bankAccountId])
  const first = await firstOf(file.rows())
  const ofDay = first ? await tx.query(OF_DAY, [account.bankAccountId, first.bookedOn]) : []
  const overlap = first && ofDay.find((line) => isSame(line, first))
  if (overlap) return { day: first.bookedOn, place: overlap.place - 1, last }
  const closing = last?.balancePaise ?? account.openingPaise
  const since = last ? `after its last line, of ${last.bookedOn}` : `when it began, on ${account.openedOn}`
  if (file.openingPaise !== closing)
    throw new FileRejected(
      `Line ${first?.line ?? 1}: the statement opens with ${formatRupees(file.openingPaise)}, and the account had ${formatRupees(closing)} ${since}. Import the statement between them first`,
    )
  if (first && last && first.bookedOn < last.bookedOn)
    throw new FileRejected(
      `Line ${first.line} is of ${first.bookedOn}, and of that day there are other lines: the last one is of ${last.bookedOn}`,
    )
  return { day: last?.bookedOn, place: last?.place ?? 0, last }
}

/** The rows that are not known, each of which follows what is known; throws for one that another statement has otherwise. */
async function freshLines(
  tx: Tx,
  rows: readonly PlacedRow[],
  placing: Placing,
  bankAccountId: string,
): Promise<PlacedRow[]> {
  const known = new Map<string, Known>()
  if (!placing.isBeyond) {
    const places = [rows.map(({ bookedOn }) => bookedOn), rows.map(({ place }) => place)]
    for (const line of await tx.query(AT_PLACES, [bankAccountId, ...places])) known.set(keyOf(line), line)
  }
  return rows.filter((row) => {
    const before = known.get(keyOf(row))
    if (before && !isSame(before, row))
      throw new FileRejected(
        `Line ${row.line} is not what ${before.statementId} has in its place: ${formatRupees(before.amountPaise)} ${before.reference}. Ask the bank which of the two statements is right`,
      )
    if (!before) requireFollowing(row, placing)
    return !before
  })
}

const keyOf = ({ bookedOn, place }: Pick<Known, 'bookedOn' | 'place'>): string => `${bookedOn} ${place}`

function requireFollowing(row: PlacedRow, placing: Placing): void {
  const { last } = placing
  const isBehind =
    last === undefined ||
    row.bookedOn > last.bookedOn ||
    (row.bookedOn === last.bookedOn && row.place > last.place)
  if (!isBehind || row.balancePaise - row.amountPaise !== placing.balance)
    throw new FileRejected(
      `Line ${row.line} does not follow the lines that other statements have: the account had ${formatRupees(placing.balance)} before it`,
    )
  placing.balance = row.balancePaise
  placing.isBeyond = true
}

const lineOf = (
  row: PlacedRow,
  { bankAccountId, purpose }: BankAccount,
  statementId: string,
  { by, at, random }: Recording,
): StatementLine => ({
  tenantId: PLATFORM_TENANT,
  lineId: newId('stl', at.getTime(), random),
  bankAccountId,
  purpose,
  statementId,
  bookedOn: row.bookedOn,
  place: row.place,
  amountPaise: row.amountPaise,
  balancePaise: row.balancePaise,
  reference: row.reference,
  narration: row.narration,
  status: 'UNMATCHED',
  documentId: null,
  journalId: null,
  journalTenant: null,
  resolvedAs: null,
  owner: by,
  recordedAt: at,
})

async function* chunksOf<T>(rows: AsyncIterable<T>): AsyncGenerator<T[]> {
  let chunk: T[] = []
  for await (const row of rows) {
    chunk.push(row)
    if (chunk.length < ROWS_A_CHUNK) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

export const importToWire = (done: StatementImport) => ({
  statementId: done.statementId,
  openingBalance: formatRupees(done.openingPaise),
  closingBalance: formatRupees(done.closingPaise),
  lines: done.lines,
  new: done.newLines,
  matched: done.matched,
  differs: done.differs,
  unmatched: done.unmatched,
})
