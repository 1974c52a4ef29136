import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, lockAccounts } from '../../ledger/accounts.ts'
import { accountsToOpen, type Journal, saveJournals } from '../../ledger/journals.ts'
import { matchAlone } from '../../ledger/match-alone.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { storedArgs } from '../../ledger/stored-args.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { CODE_FACTS, type CodeFacts, type Payment, payments } from '../payment.ts'
import { type SettlementBatch, settlementBatches } from './batch.ts'
import { RAIL_BOOKS, settlementAccounts } from './postings.ts'
import { bookedOfBatch } from './reconcile-settlements.ts'
import { BATCH, timeIn } from './record-batch.ts'
import { takenBackEvent } from './settle-payments.ts'
import { type MovedOfBatch, type TakenBackWhole, takenBackJournals, wholeOf } from './taken-back.ts'

export interface ReverseBatch {
  readonly batchId: string
  readonly reason: string
}

interface Prepared extends ReverseBatch, PreparedCommand {
  /** Who has a part in it, without tenants that live in another cell. */
  readonly tenants: readonly string[]
  readonly transferId: () => string
  readonly eventId: () => string
  readonly timeIn: ReturnType<typeof timeIn>
  readonly timeZone: string
}

interface Stored extends SettlementBatch {
  readonly movedPaise: bigint
  readonly bookedPaise: bigint
  /** The line of a bank statement that shows it. */
  readonly statementLineId: string | null
}

interface State {
  readonly batch: Stored | undefined
  readonly whole: TakenBackWhole | undefined
  readonly tenants: readonly BatchTenant[]
  readonly moved: readonly MovedOfBatch[]
  readonly settled: readonly (Payment & CodeFacts)[]
  readonly balances: ByTenant<Map<string, bigint>>
}

export interface ReversedBatch {
  readonly batch: SettlementBatch
  readonly whole: TakenBackWhole | undefined
  readonly isRepeat: boolean
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
  readonly events: readonly OutboxEvent[]
  readonly command: Prepared
}

interface BatchTenant {
  readonly tenantId: string
  readonly isAway: boolean
}

const TENANTS = statement<BatchTenant>(
  'directory_batch_tenants',
  'select tenant_id as "tenantId", is_away as "isAway" from directory_batch_tenants($1) order by tenant_id',
)
const STORED = statement<Pick<Stored, 'movedPaise' | 'bookedPaise' | 'statementLineId'>>(
  'settlement_batch_to_reverse',
  `select b.moved_paise as "movedPaise", (${bookedOfBatch(() => 'true')})::bigint as "bookedPaise",
     line_of_batch(b.batch_id) as "statementLineId"
   from settlement_batches b where b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = $1`,
)
const WHOLE = statement<TakenBackWhole>(
  'settlement_taken_back',
  `select j.journal_id as "journalId", sum(t.amount)::bigint as "amountPaise"
   from settlement_batches b
     join journals j on j.tenant_id = b.tenant_id and j.kind = 'settlement_taken_back'
       and j.reference = b.batch_id || case when b.taken_back > 1 then '~' || b.taken_back else '' end
     join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
   where b.tenant_id = '${PLATFORM_TENANT}' and b.batch_id = $1 group by j.journal_id`,
)
const CLEARINGS = `('${Object.values(RAIL_BOOKS)
  .map(({ clearing }) => clearing)
  .join("', '")}')`
// What was taken back of the whole before, and the platform's share of it, are each other the other way round.
const MOVED = statement<MovedOfBatch>(
  'settlement_batch_moved',
  `select l.tenant_id as "tenantId", c.journal_id as "journalId", l.other_kind as kind, sum(l.amount)::bigint as "amountPaise"
   from legs_of_batch($1) l
     cross join lateral (select case when l.other_kind in ${CLEARINGS} then l.moved_by end as journal_id) c
   where l.other_kind not in ${CLEARINGS} or l.moved_by is not null
   group by l.tenant_id, c.journal_id, l.other_kind having sum(l.amount) <> 0
   order by l.tenant_id, c.journal_id, l.other_kind`,
)
// Not those of lines that go back to a file which names no transfer.
const SETTLED = statement<Payment & CodeFacts>(
  'settlement_batch_payments',
  `select ${payments.columns}, ${CODE_FACTS}
   from settlement_lines l
     join payments p on p.merchant_id = l.tenant_id and p.payment_id = l.payment_id
     left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id
   where l.batch_id = $1 and l.status = 'MATCHED' and exists (
     select from ledger_transfers t
     where t.tenant_id = l.tenant_id and t.journal_id = l.journal_id and t.object_id = l.batch_id)
   order by p.payment_id`,
)
const saveReversed = settlementBatches.updates(
  ['netPaise', 'status', 'linesPaise', 'remainderPaise', 'takenBack'],
  'reverse',
)

const tenantsOf = async (database: Database, batchId: string): Promise<string[]> =>
  (await database.directory(TENANTS, [batchId]))
    .filter(({ isAway }) => !isAway)
    .map(({ tenantId }) => tenantId)

/**
 * Takes a transfer of the bank or the card network back as a whole, which was recorded by mistake (decision R25): what it
 * has moved is entered the other way round today, and its lines are gone, so that it can be recorded again. A repeat
 * changes nothing.
 */
export const reverseBatch = moneyCommand({
  name: 'reverseBatch',
  batchMax: 1,

  approval: {
    kinds: ['settlement_taken_back'],
    args: storedArgs(Type.Object({ batchId: Type.String(), reason: Type.String() })),
    moves: ({ batch, isRepeat, whole, command: { reason, tenants } }: ReversedBatch) =>
      isRepeat || !whole
        ? undefined
        : {
            kind: 'settlement_taken_back',
            ...whole,
            reference: batch.batchId,
            facts: {
              utr: batch.batchUtr,
              rail: batch.rail,
              valueDate: batch.valueDate,
              netAmount: formatRupees(batch.netPaise!),
              tenants: String(tenants.filter((tenantId) => tenantId !== PLATFORM_TENANT).length),
            },
            reason,
          },
    failures: [
      'settlement_not_found',
      'settlement_confirmed',
      'settlement_elsewhere',
      'settlement_not_reversible',
      'settlement_changed',
    ],
  },

  prepare:
    ({ clock, config, database, newId }) =>
    async (args: ReverseBatch): Promise<Prepared> => {
      const tenants = await tenantsOf(database, args.batchId)
      return {
        ...args,
        tenantId: PLATFORM_TENANT,
        tenants,
        otherTenantId: tenants.filter((tenantId) => tenantId !== PLATFORM_TENANT),
        transferId: () => newId('trf'),
        eventId: () => newId('evt'),
        timeIn: timeIn(clock),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock,
  decide,

  save(tx, [decided]) {
    const { batch, command, events, isRepeat, journals, opens } = decided!
    if (isRepeat) return
    saveJournals(tx, command.timeZone, journals, opens)
    saveReversed(tx, [batch])
    saveEvents(tx, events)
  },
})

/** Every account of both rails: which one it is of is read behind the locks. */
const accountsOf = ({ tenants }: Prepared): Account[] =>
  (['upi', 'card'] as const).flatMap((rail) => settlementAccounts(rail, [...tenants, PLATFORM_TENANT]))

async function lock(tx: BatchTx, [command]: readonly Prepared[]): Promise<ByTenant<State>> {
  const { batchId } = command!
  // In this order: who holds the accounts of the platform sees what others have recorded.
  const [, balances, [batch], [facts], [whole], tenants, moved, settled] = await Promise.all([
    // No statement is matched meanwhile, which would show it.
    matchAlone(tx),
    lockAccounts(tx, accountsOf(command!)),
    tx.query(BATCH, [batchId]),
    tx.query(STORED, [batchId]),
    tx.query(WHOLE, [batchId]),
    tx.query(TENANTS, [batchId]),
    tx.query(MOVED, [batchId]),
    tx.query(SETTLED, [batchId]),
  ])
  const state: State = {
    batch: batch && facts && { ...batch, ...facts },
    whole,
    tenants,
    moved,
    settled,
    balances,
  }
  return new ByTenant(() => state)
}

function decide(state: State, command: Prepared, at: Date): ReversedBatch {
  const { eventId, reason, timeZone, transferId } = command
  const stored = state.batch ?? fail('settlement_not_found')
  // A file that names no transfer has none to take back.
  if (!stored.isAwaited) fail('settlement_not_found')
  const { bookedPaise: _booked, movedPaise: _moved, statementLineId: _line, ...before } = stored
  if (before.status === 'REVERSED')
    return {
      batch: before,
      whole: state.whole,
      isRepeat: true,
      journals: [],
      opens: [],
      events: [],
      command,
    }
  requireReversible(stored, state, command)
  const batch: SettlementBatch = {
    ...before,
    // What a list shows of it.
    netPaise: before.netPaise ?? paise(before.linesPaise),
    status: 'REVERSED',
    linesPaise: 0n,
    remainderPaise: 0n,
    takenBack: before.takenBack + 1,
  }
  const today = calendarDay(at, timeZone)
  const journals = takenBackJournals(state.moved, {
    batch,
    at,
    atOf: (tenantId) => command.timeIn(tenantId, at),
    reason,
    transferId,
    // A closed day does not move; the bank may have stated a day to come.
    valueDate: before.valueDate > today ? before.valueDate : today,
  })
  const events = state.settled.map((payment) =>
    takenBackEvent(
      payment,
      {
        at: command.timeIn(payment.merchantId, at),
        timeZone,
        batchUtr: batch.batchUtr,
        isAwaited: batch.isAwaited,
      },
      eventId(),
    ),
  )
  // The platform may not have had some: what the whole moves is in the books of tenants otherwise.
  const opens = accountsToOpen(accountsOf(command), journals, ({ accountId: id, tenantId }) =>
    state.balances.of(tenantId).has(id),
  )
  return { batch, whole: wholeOf(journals), isRepeat: false, journals, opens, events, command }
}

/** Throws where it stays; the message says what to do first. */
function requireReversible(
  { batchUtr, bookedPaise, linesPaise, movedPaise, remainderPaise, statementLineId }: Stored,
  { tenants }: State,
  command: Prepared,
): void {
  if (movedPaise !== 0n || tenants.some(({ isAway }) => isAway)) fail('settlement_elsewhere')
  if (tenants.some(({ tenantId }) => !command.tenants.includes(tenantId))) fail('settlement_changed')
  if (statementLineId !== null)
    fail('settlement_confirmed', {
      description: `The line ${statementLineId} of a bank statement shows ${batchUtr}: take its match back first`,
      command: `svc admin statement unmatch ${statementLineId}`,
    })
  if (bookedPaise !== linesPaise + remainderPaise)
    fail('settlement_not_reversible', {
      description: `The books have ${formatRupees(bookedPaise)} of ${batchUtr}, and its lines add up to ${formatRupees(linesPaise + remainderPaise)}`,
      command: 'svc admin invariants',
    })
}
