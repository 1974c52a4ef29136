import { byTenant } from '@svc/kernel/by-tenant'
import { required } from '@svc/kernel/invariant'
import { type Paise, paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { account, accountId, lockAccounts } from '../ledger/accounts.ts'
import { type Journal, journalOf, saveJournals } from '../ledger/journals.ts'
import {
  CODE_FACTS,
  type CodeFacts,
  correctedPaise,
  type Payment,
  paymentRecordToWire,
  payments,
} from './payment.ts'
import {
  type FileLine,
  type SettlementLine,
  type SettlementStatus,
  settlementLines,
} from './settlement-line.ts'

export interface RecordSettlement {
  /** Whose payments they are; the platform for lines of which no payment is known. */
  readonly tenantId: string
  readonly fileId: string
  readonly lines: readonly FileLine[]
}

/** What is known of a reference: its payment, and the line that was recorded for it before. */
interface Known {
  readonly tenantId: string
  readonly utr: string
  readonly payment: (Payment & CodeFacts) | undefined
  readonly previous: Previous | undefined
}
type Previous = Pick<SettlementLine, 'amountPaise' | 'status'>
/** Its reference and tenant, beside the columns of its payment and of its line, which are null where there is none. */
type KnownRow = Payment &
  CodeFacts & {
    lineTenant: string
    lineUtr: string
    previousPaise: Paise | null
    previousStatus: SettlementStatus | null
  }
const correctLines = settlementLines.updates(
  ['fileId', 'line', 'amountPaise', 'settledOn', 'status', 'paymentId', 'journalId', 'recordedAt'],
  'correct',
)

// By the reference first, whatever the planner knows of the table: a merchant has very many payments.
const KNOWN = statement<KnownRow>(
  'settlement_known',
  `select w.tenant_id as "lineTenant", w.utr as "lineUtr", l.amount_paise as "previousPaise",
     l.status as "previousStatus", ${payments.columns}, ${CODE_FACTS}
   from unnest($1::text[], $2::text[]) as w (tenant_id, utr)
     left join lateral (
       select * from payments p where p.utr = w.utr and p.assigned_from is null offset 0) p on p.merchant_id = w.tenant_id
     left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id
     left join settlement_lines l on l.tenant_id = w.tenant_id and l.utr = w.utr`,
)

export interface RecordedSettlement {
  readonly lines: readonly SettlementLine[]
  /** Lines that correct one whose amount was not the payment's. */
  readonly corrected: readonly SettlementLine[]
  /** Lines that were recorded before. */
  readonly repeated: number
  /** Lines whose reference was recorded before with another amount, and that correct nothing; they change nothing. */
  readonly conflicting: readonly FileLine[]
  readonly journal: Journal | undefined
  /** Of the payments that were matched. */
  readonly events: readonly OutboxEvent[]
  readonly timeZone: string
}

/**
 * Records what the bank has paid for one tenant's payments: of each line whose payment is known with this amount the
 * money goes from the clearing account to the bank account, in one journal. A repeat changes nothing; where the bank had
 * paid another amount, a line with that of the payment takes the place of the first.
 */
export const recordSettlement = command({
  name: 'recordSettlement',

  prepare:
    ({ config, newId }) =>
    (ask: RecordSettlement) => ({
      ...ask,
      transferId: newId('trf'),
      eventId: () => newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  async lock(tx, asks) {
    const wanted = asks.flatMap(({ tenantId, lines }) => lines.map(({ utr }) => ({ tenantId, utr })))
    const accounts = asks.flatMap(({ tenantId }) => [
      account('bank', tenantId),
      account('upi_clearing', tenantId),
    ])
    // In this order: who holds the accounts sees what others have recorded.
    const [, known] = await Promise.all([
      lockAccounts(tx, accounts),
      tx.query(
        KNOWN,
        columns(
          wanted,
          ({ tenantId }) => tenantId,
          ({ utr }) => utr,
        ),
      ),
    ])
    return byTenant(
      known,
      ({ lineTenant }) => lineTenant,
      ({ lineUtr }) => lineUtr,
      ({ lineTenant, lineUtr, previousPaise, previousStatus, ...payment }): Known => ({
        tenantId: lineTenant,
        utr: lineUtr,
        payment: (payment.paymentId as string | null) === null ? undefined : payment,
        previous:
          previousPaise && previousStatus
            ? { amountPaise: previousPaise, status: previousStatus }
            : undefined,
      }),
    )
  },

  decide(known, { tenantId, fileId, lines, transferId, timeZone, eventId }, now): RecordedSettlement {
    const statusOf = ({ utr, amountPaise }: FileLine): SettlementStatus => {
      const payment = known.get(utr)?.payment
      if (!payment) return 'UNKNOWN'
      return correctedPaise(payment) === amountPaise ? 'MATCHED' : 'DIFFERS'
    }
    const { fresh, corrected, conflicting } = sorted(lines, statusOf, (utr) => known.get(utr)?.previous)
    const matched = [...fresh, ...corrected].filter((line) => statusOf(line) === 'MATCHED')
    const journal =
      matched[0] &&
      settlementJournal(
        matched.map((line) => ({ ...line, fileId })),
        { transferId, tenantId, createdAt: now },
      )
    const recorded = (line: FileLine): SettlementLine => {
      const status = statusOf(line)
      return {
        ...line,
        tenantId,
        fileId,
        status,
        paymentId: known.get(line.utr)?.payment?.paymentId ?? null,
        journalId: status === 'MATCHED' ? journal!.journalId : null,
        recordedAt: now,
      }
    }
    return {
      lines: fresh.map(recorded),
      corrected: corrected.map(recorded),
      repeated: lines.length - fresh.length - corrected.length - conflicting.length,
      conflicting,
      journal,
      events: matched.map(({ utr }) => settledEvent(known.get(utr)!.payment!, eventId(), now, timeZone)),
      timeZone,
    }
  },

  apply(known, { lines, corrected }) {
    for (const line of [...lines, ...corrected])
      known.set(line.utr, { ...known.get(line.utr)!, previous: line })
  },

  save(tx, decisions) {
    saveJournals(
      tx,
      decisions[0]!.timeZone,
      decisions.flatMap(({ journal }) => journal ?? []),
    )
    settlementLines.insert(
      tx,
      decisions.flatMap(({ lines }) => lines),
    )
    correctLines(
      tx,
      decisions.flatMap(({ corrected }) => corrected),
    )
    saveEvents(
      tx,
      decisions.flatMap(({ events }) => events),
    )
  },
})

/** What the bank paid for these lines of one file goes from the clearing account to the bank account. */
export function settlementJournal(
  lines: readonly Pick<SettlementLine, 'amountPaise' | 'fileId' | 'line'>[],
  made: { readonly transferId: string; readonly tenantId: string; readonly createdAt: Date },
): Journal {
  const { fileId, line } = required(lines[0], 'a settlement journal has lines')
  const transfer = {
    ...made,
    kind: 'bank_settlement',
    debitAccountId: accountId('bank', made.tenantId),
    creditAccountId: accountId('upi_clearing', made.tenantId),
    amountPaise: paise(lines.reduce((sum, { amountPaise }) => sum + amountPaise, 0n)),
    objectId: fileId,
  }
  // A line is recorded once, so its place names this journal.
  return journalOf(transfer, `${fileId}/${line}`)
}

/**
 * New lines, lines that correct one of another amount than the payment's or of one that was not here yet, and those that
 * contradict a previous one.
 */
function sorted(
  lines: readonly FileLine[],
  statusOf: (line: FileLine) => SettlementStatus,
  previousOf: (utr: string) => Previous | undefined,
) {
  const ofFile = new Map<string, Previous>()
  const fresh: FileLine[] = []
  const corrected: FileLine[] = []
  const conflicting: FileLine[] = []
  for (const line of lines) {
    const previous = ofFile.get(line.utr) ?? previousOf(line.utr)
    const status = statusOf(line)
    const isFound = previous?.status === 'UNKNOWN' && status !== 'UNKNOWN'
    if (previous?.amountPaise === line.amountPaise && !isFound) continue
    if (!previous) fresh.push(line)
    else if (isFound || (previous.status === 'DIFFERS' && status === 'MATCHED')) corrected.push(line)
    else {
      conflicting.push(line)
      continue
    }
    ofFile.set(line.utr, { amountPaise: line.amountPaise, status })
  }
  return { fresh, corrected, conflicting }
}

/** The merchant's money is with our bank. */
export const settledEvent = (
  payment: Payment & CodeFacts,
  eventId: string,
  now: Date,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: payment.merchantId,
  type: 'payment.settled',
  objectId: payment.paymentId,
  payload: paymentRecordToWire(payment, timeZone),
  createdAt: now,
})
