import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { enteredReference } from '../../ledger/entered-reference.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { type Approvable, moneyCommand } from '../../ledger/money-command.ts'
import { StoredPaise, storedArgs } from '../../ledger/stored-args.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { payments } from '../payment.ts'
import { addMoved, adjustedByOnePerson, type Moved } from '../payouts/by-one-person.ts'
import { LOCK_PAYMENT, type Refundable } from '../refunds/create-refund.ts'
import { settlementAccounts, settlementPosting } from '../settlements/postings.ts'
import { settledEvent } from '../settlements/settle-payments.ts'
import { placeOf } from '../settlements/settlement-journals.ts'
import { type SettlementLine, settlementLines } from '../settlements/settlement-line.ts'
import { adjustmentChange } from './adjustment-rules.ts'
import {
  adjustmentAccounts,
  adjustmentEvent,
  adjustmentJournal,
  type LegIds,
  type PaymentAdjustment,
  paymentAdjustments,
} from './payment-adjustment.ts'

export interface AdjustPayment {
  readonly merchantId: string
  readonly paymentId: string
  /** What the payment should have had. */
  readonly amountPaise: Paise
  /** The bank's reference of its correction, however it is written. */
  readonly reference: string
  readonly reason: string
}

interface Prepared extends AdjustPayment, Approvable, PreparedCommand {
  readonly ids: {
    readonly adjustment: string
    readonly legs: LegIds
    readonly events: readonly [string, string]
  }
  readonly timeZone: string
}

interface State {
  readonly payments: Map<string, Refundable>
  readonly byReference: Map<string, PaymentAdjustment>
  /** By UTR. */
  readonly lines: Map<string, SettlementLine>
  readonly balances: Map<string, bigint>
  readonly byOnePerson: Moved
}

export interface AdjustedPayment {
  readonly adjustment: PaymentAdjustment
  /** The payment after it. */
  readonly payment: Refundable
  /** Absent for a repeat, which changes nothing. */
  readonly journal: Journal | undefined
  /** The settlement line that fits from then on, with the journal of its money. */
  readonly settled: { readonly line: SettlementLine; readonly journals: readonly Journal[] } | undefined
  readonly opens: readonly Account[]
  /** What was adjusted of the payment before without a second person. */
  readonly beforePaise: bigint
  readonly command: Prepared
}

const saveAdjusted = payments.updates(['adjustedPaise'], 'adjust')
const saveMatched = settlementLines.updates(['status', 'journalId', 'unmatchedJournalId'], 'match')
const BY_REFERENCE = statement<PaymentAdjustment>(
  'payment_adjustments_by_reference',
  `select ${paymentAdjustments.columns} from payment_adjustments a
   where (a.merchant_id, a.reference) in (select * from unnest($1::text[], $2::text[]))`,
)
const LINES = statement<SettlementLine>(
  'settlement_lines_of_payments',
  `select ${settlementLines.columns} from settlement_lines l
   where (l.tenant_id, l.utr) in (
     select p.merchant_id, p.utr from payments p
     where (p.merchant_id, p.payment_id) in (select * from unnest($1::text[], $2::text[])))`,
)

/**
 * Corrects what an accepted payment amounts to, by a reference of the bank (decision Q18): the payment keeps the amount of
 * its notice. A repeat of the reference changes nothing.
 */
export const adjustPayment = moneyCommand({
  name: 'adjustPayment',

  approval: {
    kinds: ['payment_adjustment'],
    args: storedArgs(
      Type.Object({
        merchantId: Type.String(),
        paymentId: Type.String(),
        amountPaise: StoredPaise,
        reference: Type.String(),
        reason: Type.String(),
      }),
    ),
    // The amounts before and after it say in which direction.
    moves: ({ adjustment: { amountPaise, changePaise, ...of }, beforePaise, journal }) =>
      journal && {
        kind: 'payment_adjustment',
        amountPaise: magnitudeOf(changePaise),
        reference: of.reference,
        facts: {
          paymentId: of.paymentId,
          from: formatRupees(amountPaise - changePaise),
          amount: formatRupees(amountPaise),
        },
        reason: of.reason,
        journalId: journal.journalId,
        beforePaise,
      },
    failures: [
      'payment_not_found',
      'payment_not_accepted',
      'adjustment_refused',
      'adjustment_reference_used',
    ],
  },

  prepare:
    ({ config, newId }) =>
    (args: AdjustPayment): Prepared => ({
      ...args,
      reference: enteredReference(args.reference),
      tenantId: args.merchantId,
      otherTenantId: PLATFORM_TENANT,
      ids: {
        adjustment: newId('adj'),
        legs: [newId('trf'), newId('trf'), newId('trf'), newId('trf')],
        events: [newId('evt'), newId('evt')],
      },
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply(state, { adjustment, payment, journal, settled, command }) {
    if (!journal) return
    state.payments.set(payment.paymentId, payment)
    state.byReference.set(adjustment.reference, adjustment)
    if (command.approvalId === undefined)
      addMoved(state.byOnePerson, payment.paymentId, magnitudeOf(adjustment.changePaise))
    if (settled) state.lines.set(settled.line.utr, settled.line)
    const { balances } = state
    for (const { creditAccountId, debitAccountId, ...leg } of journal.transfers) {
      const amount = 'amountPaise' in leg ? leg.amountPaise : 0n
      balances.set(creditAccountId, (balances.get(creditAccountId) ?? 0n) + amount)
      balances.set(debitAccountId, (balances.get(debitAccountId) ?? 0n) - amount)
    }
  },

  save(tx, decisions) {
    const made = decisions.flatMap(({ journal, ...rest }) => (journal ? [{ journal, ...rest }] : []))
    if (made.length === 0) return
    saveAdjusted(
      tx,
      made.map(({ payment }) => payment),
    )
    const settled = made.flatMap((each) => each.settled ?? [])
    saveJournals(
      tx,
      made[0]!.command.timeZone,
      [...made.map(({ journal }) => journal), ...settled.flatMap(({ journals }) => journals)],
      made.flatMap(({ opens }) => opens),
    )
    paymentAdjustments.insert(
      tx,
      made.map(({ adjustment }) => adjustment),
    )
    saveMatched(
      tx,
      settled.map(({ line }) => line),
    )
    saveEvents(tx, made.flatMap(eventsOf))
  },
})

function eventsOf({ payment, adjustment, settled, command }: AdjustedPayment): OutboxEvent[] {
  const {
    ids: { events },
    timeZone,
  } = command
  const adjusted = adjustmentEvent(payment, adjustment, events[0], timeZone)
  return settled
    ? [adjusted, settledEvent(payment, { at: adjustment.createdAt, timeZone, isAwaited: false }, events[1])]
    : [adjusted]
}

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  // They travel together; the server takes them in this order: payments before accounts, and the settlement lines, which
  // change under the locks of accounts only, behind both. What one person adjusted before changes under those of payments.
  const [ofPayments, balances, known, lines, byOnePerson] = await Promise.all([
    payments.lockRows<Refundable>(tx, LOCK_PAYMENT, commands),
    lockAccounts(
      tx,
      commands.flatMap(({ merchantId }) => [
        ...adjustmentAccounts(merchantId),
        ...settlementAccounts('upi', [merchantId]),
      ]),
    ),
    tx.query(
      BY_REFERENCE,
      columns(
        commands,
        ({ merchantId }) => merchantId,
        ({ reference }) => reference,
      ),
    ),
    tx.query(
      LINES,
      columns(
        commands,
        ({ merchantId }) => merchantId,
        ({ paymentId }) => paymentId,
      ),
    ),
    adjustedByOnePerson(tx, commands),
  ])
  const byReference = byTenant(
    known,
    ({ merchantId }) => merchantId,
    ({ reference }) => reference,
    (adjustment) => adjustment,
  )
  const byUtr = byTenant(
    lines,
    ({ tenantId }) => tenantId,
    ({ utr }) => utr,
    (line) => line,
  )
  return new ByTenant((tenantId) => ({
    payments: ofPayments.of(tenantId),
    byReference: byReference.of(tenantId),
    lines: byUtr.of(tenantId),
    balances: balances.of(tenantId),
    byOnePerson: byOnePerson.of(tenantId),
  }))
}

const magnitudeOf = (changePaise: bigint): bigint => (changePaise < 0n ? 0n - changePaise : changePaise)

function decide(state: State, command: Prepared, now: Date): AdjustedPayment {
  const { merchantId, paymentId, amountPaise, ids, reason, reference } = command
  const payment = state.payments.get(paymentId) ?? fail('payment_not_found')
  const beforePaise = state.byOnePerson.get(paymentId) ?? 0n
  const nothing = { journal: undefined, settled: undefined, opens: [], beforePaise, command }
  const first = state.byReference.get(reference)
  if (first) {
    if (first.paymentId !== paymentId || first.amountPaise !== amountPaise) fail('adjustment_reference_used')
    return { ...nothing, adjustment: first, payment }
  }
  const line = state.lines.get(payment.utr)
  const changePaise = adjustmentChange(payment, line, amountPaise)
  const magnitude = magnitudeOf(changePaise)
  const payable = state.balances.get(accountId('payable', merchantId)) ?? 0n
  const advancedPaise = paise(changePaise < 0n && magnitude > payable ? magnitude - payable : 0n)
  const adjustment: PaymentAdjustment = {
    merchantId,
    adjustmentId: ids.adjustment,
    paymentId,
    amountPaise,
    changePaise,
    advancedPaise,
    reference,
    reason,
    createdAt: now,
  }
  const advances = account('merchant_advances', merchantId)
  const isFitting = line?.status === 'DIFFERS' && line.amountPaise === amountPaise
  return {
    adjustment,
    payment: { ...payment, adjustedPaise: paise(payment.adjustedPaise + changePaise) },
    journal: adjustmentJournal(adjustment, ids.legs),
    settled: isFitting ? settledBy(line, adjustment, [ids.legs[2], ids.legs[3]]) : undefined,
    opens: advancedPaise > 0n && !state.balances.has(advances.accountId) ? [advances] : [],
    beforePaise,
    command,
  }
}

/** The line of the bank's transfer fits from now on: its money is the merchant's, and no longer the platform's. */
function settledBy(
  line: SettlementLine,
  { createdAt: at }: PaymentAdjustment,
  [own, freed]: readonly [string, string],
) {
  const { amountPaise, settledOn: valueDate } = line
  const of = { rail: 'upi', valueDate, batchId: line.batchId ?? line.fileId, at } as const
  const journal = settlementPosting(
    { ...of, as: 'settled', tenantId: line.tenantId, reference: placeOf(line), transferId: () => own },
    [{ kind: 'upi_clearing', amountPaise }],
  )
  const ofPlatform = settlementPosting(
    { ...of, as: 'matched', tenantId: PLATFORM_TENANT, transferId: () => freed },
    line.unmatchedJournalId === null ? [] : [{ kind: 'settlement_unmatched', amountPaise: 0n - amountPaise }],
  )
  const settled = {
    status: 'MATCHED',
    journalId: journal?.journalId ?? null,
    unmatchedJournalId: null,
  } as const
  return { line: { ...line, ...settled }, journals: [journal, ofPlatform].flatMap((each) => each ?? []) }
}
