import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { CommandTools } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { lockAccounts } from '../../ledger/accounts.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import type { StatedField } from '../../rails/quarantine-reason.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import {
  type BatchHead,
  type BatchLine,
  type BatchLineRow,
  batchIdOf,
  batchLines,
  type SettlementBatch,
  settlementBatches,
} from './batch.ts'
import { findDocuments, type SettledDocument } from './documents.ts'
import { type KnownLines, knownLines, type LinesOfTenant } from './known-lines.ts'
import { type PostingOf, RAIL_BOOKS, settlementAccounts, settlementPosting } from './postings.ts'
import { RECORDED_BY_HAND } from './recorded-by-hand.ts'
import { keysOf, type SettledDocuments, settleDocuments, settledKey } from './settle-documents.ts'
import { type SettledPayments, settlePayments } from './settle-payments.ts'
import { settlementLines } from './settlement-line.ts'

export interface RecordBatch extends BatchHead {
  /** The file or message that they come from. */
  readonly fileId: string
  readonly lines: readonly BatchLine[]
  /** Whether these are the last lines of the file: what the transfer has beyond its lines is posted then. */
  readonly isLast: boolean
  /** They were recorded before, and what they are of is known by now: once taken back, they are not recorded again. */
  readonly isLate?: boolean
}

interface Prepared extends RecordBatch, PreparedCommand {
  readonly batchId: string
  /** Lines of payments, by whose they are. */
  readonly payments: readonly LinesOfTenant[]
  readonly others: readonly BatchLine[]
  readonly documents: ReadonlyMap<string, readonly SettledDocument[]>
  readonly transferId: () => string
  readonly eventId: () => string
  readonly timeIn: ReturnType<typeof timeIn>
  readonly timeZone: string
}

interface State {
  readonly batch: SettlementBatch | undefined
  readonly known: ByTenant<KnownLines>
  readonly lines: Map<string, BatchLineRow>
  readonly settled: Set<string>
}

export interface RecordedBatch {
  readonly batch: SettlementBatch
  readonly isNew: boolean
  readonly payments: readonly SettledPayments[]
  readonly others: SettledDocuments
  readonly conflicting: readonly BatchLine[]
  readonly repeated: number
  readonly journals: readonly Journal[]
  readonly command: Prepared
}

const OWNERS = statement<{ utr: string; tenant_id: string }>(
  'settlement_owners',
  'select utr, tenant_id from directory_credits($1)',
)
export const BATCH = statement<SettlementBatch>(
  'settlement_batch_to_record',
  `select ${settlementBatches.columns} from settlement_batches b where b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = $1`,
)
const LINES = statement<BatchLineRow>(
  'settlement_batch_lines_to_record',
  `select ${batchLines.columns} from settlement_batch_lines l
   where l.tenant_id = '${PLATFORM_TENANT}' and l.batch_id = $1 and l.line_key = any ($2)`,
)
const SETTLED = statement<{ kind: string; documentId: string }>(
  'settlement_documents_settled',
  `select l.kind, l.document_id as "documentId" from settlement_batch_lines l
   where l.tenant_id = '${PLATFORM_TENANT}' and l.document_id = any ($1)`,
)

const saveBatch = settlementBatches.updates(
  ['netPaise', 'valueDate', 'status', 'linesPaise', 'remainderPaise'],
  'record',
)
const correctLines = settlementLines.updates(
  [
    'fileId',
    'line',
    'amountPaise',
    'settledOn',
    'status',
    'paymentId',
    'journalId',
    'superseded',
    'batchId',
    'unmatchedJournalId',
    'recordedAt',
  ],
  'correct',
)
const freeLines = settlementLines.updates(['unmatchedJournalId'], 'free')
const adoptLines = settlementLines.updates(['batchId'], 'adopt')
const matchLines = batchLines.updates(
  ['amountPaise', 'status', 'ofTenant', 'documentId', 'journalId', 'matchedJournalId'],
  'match',
)

/** A corrected payment is settled as one. */
const isPayment = ({ kind, reference }: BatchLine, rail: BatchHead['rail']): boolean =>
  rail === 'upi' && kind === 'payment' && reference !== undefined

async function ownersOf(
  database: Database,
  lines: readonly BatchLine[],
  of: { fileId: string; valueDate: string },
) {
  const owners = await database.directory(OWNERS, [lines.map(({ reference }) => reference!)])
  const ownerOf = new Map(owners.map((row) => [row.utr, row.tenant_id]))
  const byOwner = groupBy(lines, ({ reference }) => ownerOf.get(reference!) ?? PLATFORM_TENANT)
  return [...byOwner].map(([tenantId, its]) => ({
    tenantId,
    fileId: of.fileId,
    lines: its.map(({ line, reference, amountPaise }) => ({
      line,
      utr: reference!,
      amountPaise,
      settledOn: of.valueDate,
    })),
  }))
}

/** What the clock of a tenant shows when that of the platform shows this. */
export const timeIn =
  (clock: CommandTools['clock']) =>
  (tenantId: string, now: Date): Date =>
    new Date(now.getTime() + clock.of(tenantId).offsetMs() - clock.of(PLATFORM_TENANT).offsetMs())

type BatchTools = Pick<CommandTools, 'clock' | 'config' | 'database' | 'newId'>

const prepareBatch =
  ({ clock, config, database, newId }: BatchTools) =>
  async (args: RecordBatch): Promise<Prepared> => {
    const ofPayments = args.lines.filter((line) => isPayment(line, args.rail))
    const others = args.lines.filter((line) => !isPayment(line, args.rail))
    const [payments, documents] = await Promise.all([
      ownersOf(database, ofPayments, args),
      findDocuments(database, args.rail, others),
    ])
    const tenants = [
      ...payments.map(({ tenantId }) => tenantId),
      ...[...documents.values()].flat().map(({ tenantId }) => tenantId),
    ]
    return {
      ...args,
      tenantId: PLATFORM_TENANT,
      otherTenantId: [...new Set(tenants)],
      batchId: batchIdOf(args.rail, args.batchUtr),
      payments,
      others,
      documents,
      transferId: () => newId('trf'),
      eventId: () => newId('evt'),
      timeIn: timeIn(clock),
      timeZone: config.BUSINESS_TIME_ZONE,
    }
  }

/**
 * Records a transfer of the bank or the card network with lines of it (decision R25): the bank moves by its net amount,
 * whatever its lines fit. A repeat changes nothing, whichever file or message says it again.
 */
export const recordBatch = moneyCommand<RecordBatch, Prepared, State, RecordedBatch>({
  name: 'recordBatch',
  isSigned: true,
  batchMax: 1,

  approval: RECORDED_BY_HAND,

  prepare: prepareBatch,

  lock,
  decide,

  save(tx, decisions) {
    const { batch, command, isNew, payments, others, journals } = decisions[0]!
    if (isNew) settlementBatches.insert(tx, [batch])
    else saveBatch(tx, [batch])
    saveJournals(tx, command.timeZone, journals)
    settlementLines.insert(
      tx,
      payments.flatMap(({ inserted }) => inserted),
    )
    correctLines(
      tx,
      payments.flatMap(({ changed }) => changed),
    )
    freeLines(
      tx,
      payments.flatMap(({ freed }) => freed),
    )
    adoptLines(
      tx,
      payments.flatMap(({ adopted }) => adopted),
    )
    batchLines.insert(tx, others.inserted)
    matchLines(tx, others.changed)
    saveEvents(
      tx,
      payments.flatMap(({ events }) => events),
    )
  },
})

async function lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
  const { rail, otherTenantId } = command!
  // In this order: who holds the accounts of the platform sees what others have recorded.
  const [, state] = await Promise.all([
    lockAccounts(tx, settlementAccounts(rail, otherTenantId as readonly string[])),
    readState(tx, command!),
  ])
  return new ByTenant(() => state)
}

async function readState(tx: Tx, { batchId, payments, others, documents }: Prepared): Promise<State> {
  const keys = [
    ...keysOf(others).values(),
    ...payments.flatMap(({ lines }) => lines.map(({ utr }) => `payment ${utr}`)),
  ]
  const ids = [...documents.values()].flat().map(({ documentId }) => documentId)
  const [known, [batch], lines, settled] = await Promise.all([
    knownLines(tx, payments),
    tx.query(BATCH, [batchId]),
    tx.query(LINES, [batchId, keys]),
    tx.query(SETTLED, [ids]),
  ])
  return {
    batch,
    known,
    lines: new Map(lines.map((line) => [line.lineKey, line])),
    settled: new Set(settled.map(settledKey)),
  }
}

/** What recording would do, without doing it. */
export const previewBatch =
  (tools: BatchTools) =>
  async (args: RecordBatch): Promise<RecordedBatch> => {
    const command = await prepareBatch(tools)(args)
    const state = await tools.database.operate((tx) => readState(tx, command))
    return decide(state, command, new Date())
  }

function decide(state: State, given: Prepared, at: Date): RecordedBatch {
  const stored = state.batch
  const command = stored && stored.takenBack > 0 ? recordedAgain(state, given, stored) : given
  const { batchId, payments, others, rail, transferId } = command
  const isEmpty = payments.length === 0 && others.length === 0
  const before = stored?.status === 'REVERSED' && !isEmpty ? undefined : stored
  const netPaise = netOf(before, command)
  const unmatchedId = transferId()
  const settling = { ...command, at, unmatchedJournalId: `jrn_${unmatchedId.slice(4)}` }
  const settled = payments.map((of) =>
    settlePayments(state.known.of(of.tenantId), of, { ...settling, at: command.timeIn(of.tenantId, at) }),
  )
  const twice = new Set(settled.flatMap(({ paidTwice }) => paidTwice.map(({ line }) => line)))
  const again = command.lines.filter((line) => isPayment(line, rail) && twice.has(line.line))
  const documents = settleDocuments({ ...state, documents: command.documents }, [...others, ...again], {
    ...settling,
    atOf: (tenantId) => command.timeIn(tenantId, at),
  })
  const linesPaise = settled.reduce((sum, each) => sum + each.linesPaise, documents.linesPaise)
  const total = (before?.linesPaise ?? 0n) + linesPaise
  const remainderPaise = remainderOf(command, netPaise, total, before)
  const batch: SettlementBatch = {
    tenantId: PLATFORM_TENANT,
    batchId,
    rail,
    batchUtr: command.batchUtr,
    valueDate: dayOf(before, command),
    netPaise: netPaise ?? null,
    isAwaited: before?.isAwaited ?? command.isAwaited,
    status: statusOfBatch(before, netPaise, total),
    linesPaise: total,
    remainderPaise,
    takenBack: stored?.takenBack ?? 0,
    createdAt: stored?.createdAt ?? at,
  }
  const ofPlatform = platformJournals(command, settled, {
    at,
    unmatchedId,
    remainderPaise: remainderPaise - (before?.remainderPaise ?? 0n),
  })
  const conflicting = new Set(settled.flatMap((each) => each.conflicting.map(({ line }) => line)))
  return {
    batch,
    isNew: stored === undefined,
    payments: settled,
    others: documents,
    conflicting: [
      ...command.lines.filter((line) => isPayment(line, rail) && conflicting.has(line.line)),
      ...documents.conflicting,
    ],
    repeated: settled.reduce((sum, each) => sum + each.repeated, documents.repeated),
    journals: [...ofPlatform, ...settled.flatMap(({ journals }) => journals), ...documents.journals],
    command,
  }
}

/**
 * Of a transfer that was taken back and is recorded again: its lines have other places than before, which name journals, and
 * late ones are left out that it has no more.
 */
function recordedAgain(
  { known, lines }: State,
  command: Prepared,
  { batchId, status, takenBack }: SettlementBatch,
): Prepared {
  if (!command.isLate) return { ...command, fileId: `${command.fileId}~${takenBack + 1}` }
  if (status === 'REVERSED') return { ...command, payments: [], others: [] }
  const keys = keysOf(command.others)
  const isThere = (tenantId: string, utr: string): boolean => {
    const { previous, ofPlatform } = known.of(tenantId).known.get(utr) ?? {}
    return previous?.batchId === batchId || ofPlatform?.batchId === batchId
  }
  return {
    ...command,
    payments: command.payments.map((of) => ({
      ...of,
      lines: of.lines.filter(({ utr }) => isThere(of.tenantId, utr)),
    })),
    others: command.others.filter((line) => lines.has(keys.get(line)!)),
  }
}

/** What the bank states of the whole; it does not change. */
function netOf(before: SettlementBatch | undefined, { netPaise, batchUtr }: RecordBatch): Paise | undefined {
  const known = before?.netPaise ?? undefined
  if (known === undefined || netPaise === undefined || known === netPaise) return known ?? netPaise
  return differs(
    'netAmount',
    `${batchUtr} was recorded with the net amount ${formatRupees(known)}, not ${formatRupees(netPaise)}`,
  )
}

function dayOf(
  before: SettlementBatch | undefined,
  { batchUtr, isDayStated, valueDate }: RecordBatch,
): string {
  const known = before?.valueDate ?? valueDate
  if (!isDayStated || known === valueDate) return known
  return differs('valueDate', `${batchUtr} was recorded with the value date ${known}, not ${valueDate}`)
}

const differs = (field: 'netAmount' | 'valueDate', description: string): never =>
  fail('settlement_batch_differs', { description, cause: { field } satisfies StatedField })

/** Between the first and the last lines of a file it stays as it was. */
const remainderOf = (
  { isLast }: RecordBatch,
  netPaise: Paise | undefined,
  linesPaise: bigint,
  before: SettlementBatch | undefined,
): bigint => {
  if (netPaise === undefined) return 0n
  return isLast ? netPaise - linesPaise : (before?.remainderPaise ?? 0n)
}

function statusOfBatch(
  before: SettlementBatch | undefined,
  netPaise: Paise | undefined,
  linesPaise: bigint,
): SettlementBatch['status'] {
  if (before?.status === 'REVERSED') return 'REVERSED'
  if (netPaise !== undefined && netPaise !== linesPaise) return 'INCOMPLETE'
  return before && before.status !== 'INCOMPLETE' ? before.status : 'POSTED'
}

interface OfPlatform {
  readonly at: Date
  readonly unmatchedId: string
  readonly remainderPaise: bigint
}

/** What the platform has for lines of payments that fit nothing, and for what is in no line. */
function platformJournals(
  command: Prepared,
  settled: readonly SettledPayments[],
  { at, unmatchedId, remainderPaise }: OfPlatform,
): Journal[] {
  const { unmatched: kind } = RAIL_BOOKS[command.rail]
  const unmatched = settled.reduce((total, { unmatchedPaise }) => total + unmatchedPaise, 0n)
  const freed = groupBy(
    settled.flatMap(({ freedPaise }) => [...freedPaise]),
    ([batchId]) => batchId,
  )
  const post = (
    as: PostingOf['as'],
    amountPaise: bigint,
    { batchId = command.batchId, transferId = command.transferId } = {},
  ) =>
    settlementPosting({ ...command, at, batchId, transferId, as, tenantId: PLATFORM_TENANT }, [
      { kind, amountPaise },
    ])
  return [
    post('unmatched', unmatched, { transferId: () => unmatchedId }),
    ...[...freed].map(([batchId, parts]) =>
      post('matched', 0n - parts.reduce((total, [, amount]) => total + amount, 0n), { batchId }),
    ),
    post('unmatched', remainderPaise),
  ].flatMap((journal) => journal ?? [])
}
