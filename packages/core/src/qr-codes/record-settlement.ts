import { byTenant } from '@svc/kernel/by-tenant'
import { type Paise, paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { account, accountId, lockAccounts } from '../ledger/accounts.ts'
import { type Journal, journalOf, saveJournals } from '../ledger/journals.ts'
import { CODE_FACTS, type CodeFacts, type Payment, paymentRecordToWire, payments } from './payment.ts'
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

/** What is known of a reference: its payment, and the amount that was recorded for it before. */
interface Known {
  readonly tenantId: string
  readonly utr: string
  readonly payment: (Payment & CodeFacts) | undefined
  readonly recordedPaise: Paise | null
}
/** Its reference and tenant, beside the columns of its payment, which are null where there is none. */
type KnownRow = Payment & CodeFacts & { lineTenant: string; lineUtr: string; recordedPaise: Paise | null }
const KNOWN = statement<KnownRow>(
  'settlement_known',
  `select w.tenant_id as "lineTenant", w.utr as "lineUtr", l.amount_paise as "recordedPaise",
     ${payments.columns}, ${CODE_FACTS}
   from unnest($1::text[], $2::text[]) as w (tenant_id, utr)
     left join payments p on p.merchant_id = w.tenant_id and p.utr = w.utr and p.assigned_from is null
     left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id
     left join settlement_lines l on l.tenant_id = w.tenant_id and l.utr = w.utr`,
)

export interface RecordedSettlement {
  readonly lines: readonly SettlementLine[]
  /** Lines that were recorded before. */
  readonly repeated: number
  /** Lines whose reference was recorded before with another amount; they change nothing. */
  readonly conflicting: readonly FileLine[]
  readonly journal: Journal | undefined
  /** Of the payments that were matched. */
  readonly events: readonly OutboxEvent[]
  readonly timeZone: string
}

/**
 * Records what the bank has paid for one tenant's payments: of each line whose payment is known with this amount the
 * money goes from the clearing account to the bank account, in one journal. A repeat changes nothing.
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
      ({ lineTenant, lineUtr, recordedPaise, ...payment }): Known => ({
        tenantId: lineTenant,
        utr: lineUtr,
        payment: (payment.paymentId as string | null) === null ? undefined : payment,
        recordedPaise,
      }),
    )
  },

  decide(known, { tenantId, fileId, lines, transferId, timeZone, eventId }, now): RecordedSettlement {
    const recorded = new Map<string, Paise>()
    const fresh: FileLine[] = []
    const conflicting: FileLine[] = []
    for (const line of lines) {
      const former = recorded.get(line.utr) ?? known.get(line.utr)?.recordedPaise
      if (former === undefined || former === null) fresh.push(line)
      else if (former !== line.amountPaise) conflicting.push(line)
      recorded.set(line.utr, former ?? line.amountPaise)
    }
    const statusOf = ({ utr, amountPaise }: FileLine): SettlementStatus => {
      const payment = known.get(utr)?.payment
      if (!payment) return 'UNKNOWN'
      return payment.amountPaise === amountPaise ? 'MATCHED' : 'DIFFERS'
    }
    const matched = fresh.filter((line) => statusOf(line) === 'MATCHED')
    const journal = matched[0] && {
      ...journalOf(
        {
          transferId,
          tenantId,
          kind: 'bank_settlement',
          debitAccountId: accountId('bank', tenantId),
          creditAccountId: accountId('upi_clearing', tenantId),
          amountPaise: paise(matched.reduce((sum, { amountPaise }) => sum + amountPaise, 0n)),
          objectId: fileId,
          createdAt: now,
        },
        // A line is recorded once, so its place names this journal.
        `${fileId}/${matched[0].line}`,
      ),
    }
    return {
      lines: fresh.map((line) => {
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
      }),
      repeated: lines.length - fresh.length - conflicting.length,
      conflicting,
      journal,
      events: matched.map(({ utr }) => settledEvent(known.get(utr)!.payment!, eventId(), now, timeZone)),
      timeZone,
    }
  },

  apply(known, { lines }) {
    for (const { utr, amountPaise } of lines)
      known.set(utr, { ...known.get(utr)!, recordedPaise: amountPaise })
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
    saveEvents(
      tx,
      decisions.flatMap(({ events }) => events),
    )
  },
})

/** The merchant's money is with our bank. */
const settledEvent = (
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
