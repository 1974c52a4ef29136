import { ByTenant, byTenant, idsByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import type { Paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { account, lockAccounts } from '../ledger/accounts.ts'
import { type Journal, saveJournals } from '../ledger/journals.ts'
import { CODE_FACTS, type CodeFacts, type Payment, paymentRecordToWire, payments } from './payment.ts'
import { placeOf, reversedPlaces, settlementJournal, settlementReversal } from './settlement-journals.ts'
import {
  type FileLine,
  type SettlementLine,
  type SettlementStatus,
  settlementLines,
} from './settlement-line.ts'
import {
  type Corrected,
  type KnownLine,
  type PlacedLine,
  sortLines,
  statusOf,
} from './sort-settlement-lines.ts'

export interface RecordSettlement {
  /** Whose payments they are; the platform for lines of which no payment is known. */
  readonly tenantId: string
  readonly fileId: string
  readonly lines: readonly FileLine[]
}

type Known = KnownLine<Payment & CodeFacts>
/** Its reference and tenant, beside the columns of its payment and of its line, which are null where there is none. */
type KnownRow = Payment &
  CodeFacts & {
    lineTenant: string
    lineUtr: string
    isAdjusted: boolean
    previousPaise: Paise | null
    previousStatus: SettlementStatus | null
    previousFile: string
    previousPlace: number
    previousJournal: string | null
    previousSuperseded: readonly string[]
  }

interface State {
  /** By reference. */
  readonly known: Map<string, Known>
  /** Places of lines whose settlement was taken back when later ones corrected them. */
  readonly reversed: Set<string>
}

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
    'recordedAt',
  ],
  'correct',
)

// By the reference first, whatever the planner knows of the table: a merchant has very many payments.
const KNOWN = statement<KnownRow>(
  'settlement_known',
  `select w.tenant_id as "lineTenant", w.utr as "lineUtr", l.amount_paise as "previousPaise",
     l.status as "previousStatus", l.file_id as "previousFile", l.line as "previousPlace",
     l.journal_id as "previousJournal", l.superseded as "previousSuperseded", exists (
       select from payment_adjustments a
       where a.merchant_id = p.merchant_id and a.payment_id = p.payment_id) as "isAdjusted",
     ${payments.columns}, ${CODE_FACTS}
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
  /** Lines that differ, of payments whose previous line fitted because they were adjusted. */
  readonly reopened: readonly (Corrected & { readonly line: SettlementLine })[]
  /** Lines that were recorded before. */
  readonly repeated: number
  /** Lines whose reference was recorded before with another amount, and that correct nothing; they change nothing. */
  readonly conflicting: readonly FileLine[]
  readonly journals: readonly Journal[]
  /** Of the payments that were matched. */
  readonly events: readonly OutboxEvent[]
  readonly timeZone: string
}

/** What is known of the lines of files, by tenant. */
export async function knownLines(tx: Tx, files: readonly RecordSettlement[]): Promise<ByTenant<State>> {
  const wanted = files.flatMap(({ tenantId, lines }) => lines.map(({ utr }) => ({ tenantId, utr })))
  const places = files.flatMap(({ tenantId, fileId, lines }) =>
    lines.map(({ line }) => ({ tenantId, fileId, line })),
  )
  const [rows, reversed] = await Promise.all([
    tx.query(
      KNOWN,
      columns(
        wanted,
        ({ tenantId }) => tenantId,
        ({ utr }) => utr,
      ),
    ),
    reversedPlaces(tx, places),
  ])
  const known = byTenant(
    rows,
    ({ lineTenant }) => lineTenant,
    ({ lineUtr }) => lineUtr,
    knownOf,
  )
  const placesOf = idsByTenant(
    reversed,
    ({ tenantId }) => tenantId,
    ({ place }) => place,
  )
  return new ByTenant((tenantId): State => ({ known: known.of(tenantId), reversed: placesOf.of(tenantId) }))
}

/**
 * Records what the bank has paid for one tenant's payments: of each line whose payment is known with this amount the
 * money goes from the clearing account to the bank account, in one journal for each day on which the bank paid. A repeat changes nothing; where the bank had
 * paid another amount, a line with that of the payment takes the place of the first. A line that fitted because the
 * payment was adjusted differs again when the bank corrects it (decision Q18).
 */
export const recordSettlement = command({
  name: 'recordSettlement',

  prepare:
    ({ config, newId }) =>
    (args: RecordSettlement) => ({
      ...args,
      transferId: () => newId('trf'),
      eventId: () => newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  async lock(tx, commands) {
    const accounts = commands.flatMap(({ tenantId }) => [
      account('bank', tenantId),
      account('upi_clearing', tenantId),
    ])
    // In this order: who holds the accounts sees what others have recorded.
    const [, state] = await Promise.all([lockAccounts(tx, accounts), knownLines(tx, commands)])
    return state
  },

  decide({ known, reversed }, args, now): RecordedSettlement {
    const { tenantId, fileId, lines, transferId, timeZone, eventId } = args
    const { fresh, corrected, reopened, conflicting } = sortLines(lines, fileId, known, reversed)
    const of = (line: FileLine) => statusOf(line, known.get(line.utr)?.payment)
    const matched = [...fresh, ...corrected].filter((line) => of(line) === 'MATCHED')
    const made = () => ({ transferId: transferId(), tenantId, createdAt: now })
    const days = groupBy(
      matched.map((line) => ({ ...line, fileId })),
      ({ settledOn }) => settledOn,
    )
    const journals = new Map([...days].map(([day, of]) => [day, settlementJournal(of, made())]))
    const recorded = (line: PlacedLine): SettlementLine => {
      const status = of(line)
      return {
        ...line,
        tenantId,
        fileId,
        status,
        paymentId: known.get(line.utr)?.payment?.paymentId ?? null,
        journalId: status === 'MATCHED' ? journals.get(line.settledOn)!.journalId : null,
        recordedAt: now,
      }
    }
    const reversals = reopened.map(({ previous }) => settlementReversal(previous, made()))
    return {
      lines: fresh.map(recorded),
      corrected: corrected.map(recorded),
      reopened: reopened.map(({ line, previous }) => ({ line: recorded(line), previous })),
      repeated: lines.length - fresh.length - corrected.length - reopened.length - conflicting.length,
      conflicting,
      journals: [...journals.values(), ...reversals],
      events: matched.map(({ utr }) => settledEvent(known.get(utr)!.payment!, eventId(), now, timeZone)),
      timeZone,
    }
  },

  apply({ known, reversed }, { lines, corrected, reopened }) {
    for (const { previous } of reopened) reversed.add(placeOf(previous))
    for (const line of [...lines, ...reopened.map(({ line }) => line), ...corrected])
      known.set(line.utr, { ...known.get(line.utr)!, previous: line })
  },

  save(tx, decisions) {
    saveJournals(
      tx,
      decisions[0]!.timeZone,
      decisions.flatMap(({ journals }) => journals),
    )
    settlementLines.insert(
      tx,
      decisions.flatMap(({ lines }) => lines),
    )
    // In the order of the decisions: what one has opened again another one may have matched.
    for (const { corrected, reopened } of decisions) {
      correctLines(
        tx,
        reopened.map(({ line }) => line),
      )
      correctLines(tx, corrected)
    }
    saveEvents(
      tx,
      decisions.flatMap(({ events }) => events),
    )
  },
})

const knownOf = (row: KnownRow): Known => {
  const { lineTenant: _tenant, lineUtr: _utr, isAdjusted, ...rest } = row
  const { previousPaise, previousStatus, previousFile, previousPlace, previousJournal, ...of } = rest
  const { previousSuperseded, ...payment } = of
  return {
    payment: (payment.paymentId as string | null) === null ? undefined : payment,
    isAdjusted,
    previous:
      previousPaise && previousStatus
        ? {
            amountPaise: previousPaise,
            status: previousStatus,
            fileId: previousFile,
            line: previousPlace,
            journalId: previousJournal,
            superseded: previousSuperseded,
          }
        : undefined,
  }
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
