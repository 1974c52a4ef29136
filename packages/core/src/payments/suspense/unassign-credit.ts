import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import type { AccountKind } from '../../ledger/chart-of-accounts.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import type { JournalKind } from '../../ledger/posting-rules.ts'
import { orNull, storedArgs } from '../../ledger/stored-args.ts'
import { assignmentReference, type Payment, paymentEvent, payments } from '../payment.ts'
import type { Assigned } from './find-suspense.ts'
import { type Unassignment, unassignments } from './unassignment.ts'

export interface UnassignCredit extends Assigned {
  readonly reason: string
}

interface Prepared extends UnassignCredit, PreparedCommand {
  readonly ids: { readonly legs: readonly [string, string]; readonly events: readonly [string, string] }
  readonly timeZone: string
}

interface State {
  readonly payments: Map<string, Payment>
  /** Of all tenants: the payments that others were assigned from. */
  readonly origins: Map<string, Payment>
  /** The payout that has the payment, by its id. */
  readonly payouts: ReadonlyMap<string, string>
  /** Of the accounts that exist, of all tenants. */
  readonly balances: Map<string, bigint>
}

export interface UnassignedCredit {
  /** The payment that is in suspense again. */
  readonly payment: Payment
  readonly isRepeat: boolean
  /** Both payments as they are then: the one that was the merchant's, and the one that it came from, if it is another. */
  readonly changed: readonly Payment[]
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
  readonly record: Unassignment | undefined
  readonly command: Prepared
}

const LOCK = payments.lock('to_unassign')
const saveChanged = payments.updates(['status', 'reason', 'resolvedAt', 'takenBack'], 'unassign')
const PAID_OUT = statement<{ paymentId: string; payoutId: string }>(
  'payout_of_assigned_payment',
  `select w.payment_id as "paymentId", l.payout_id as "payoutId"
   from unnest($1::text[], $2::text[]) as w (merchant_id, payment_id)
     join payout_lines l on l.merchant_id = w.merchant_id and l.object_id = w.payment_id and l.kind = 'payment'
       and not l.released`,
)

/**
 * Takes an assignment back, of a credit in suspense or of a notice that an operator read, until its money has left
 * (decision Q16). The credit waits in suspense again, where it was, under its id and with the times of the bank; by two
 * linked journals where it was assigned to another tenant (decision R9). A repeat changes nothing.
 */
export const unassignCredit = moneyCommand({
  name: 'unassignCredit',

  approval: {
    kinds: ['suspense_unassigned'],
    args: storedArgs(
      Type.Object({
        tenantId: Type.String(),
        paymentId: Type.String(),
        origin: orNull(Type.Object({ tenantId: Type.String(), paymentId: Type.String() })),
        isReadByHand: Type.Boolean(),
        reason: Type.String(),
      }),
    ),
    moves: ({ journals: [journal], payment, command: { origin, paymentId, reason } }: UnassignedCredit) =>
      journal && {
        kind: 'suspense_unassigned',
        amountPaise: payment.amountPaise,
        // A payment may be assigned and taken back again.
        reference: payment.utr,
        facts: { paymentId, origin: origin?.paymentId ?? null },
        reason,
        journalId: journal.journalId,
      },
    failures: ['payment_not_found', 'payment_not_assigned', 'assignment_not_reversible'],
  },

  prepare:
    ({ config, newId }) =>
    (args: UnassignCredit): Prepared => ({
      ...args,
      otherTenantId: args.origin?.tenantId,
      ids: { legs: [newId('trf'), newId('trf')], events: [newId('evt'), newId('evt')] },
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply(state, { changed, record, opens }) {
    for (const payment of changed) {
      const of = state.payments.has(payment.paymentId) ? state.payments : state.origins
      of.set(payment.paymentId, payment)
    }
    for (const { accountId: id } of opens) state.balances.set(id, 0n)
    if (!record) return
    const payable = accountId('payable', record.tenantId)
    state.balances.set(payable, (state.balances.get(payable) ?? 0n) - record.amountPaise)
  },

  save(tx, decisions) {
    const done = decisions.filter(({ isRepeat }) => !isRepeat)
    if (done.length === 0) return
    saveChanged(
      tx,
      done.flatMap(({ changed }) => changed),
    )
    saveJournals(
      tx,
      done[0]!.command.timeZone,
      done.flatMap(({ journals }) => journals),
      done.flatMap(({ opens }) => opens),
    )
    unassignments.insert(
      tx,
      done.flatMap(({ record }) => record ?? []),
    )
    saveEvents(tx, done.flatMap(eventsOf))
  },
})

/** The merchant that loses it and the tenant whose suspense has it again are both notified. */
const eventsOf = ({ changed, record, command: { ids, timeZone } }: UnassignedCredit): OutboxEvent[] =>
  changed.map((payment, n) => ({
    ...paymentEvent(
      'unassigned',
      { ...payment, referenceNumber: null, customParams: null },
      ids.events[n]!,
      timeZone,
    ),
    createdAt: record!.unassignedAt,
  }))

const accountsOf = ({ tenantId, origin }: UnassignCredit): Account[] => [
  account('payable', tenantId),
  ...(origin
    ? [
        account('inter_tenant', tenantId),
        account('inter_tenant', origin.tenantId),
        account('suspense', origin.tenantId),
      ]
    : [account('suspense', tenantId)]),
]

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const own = commands.map(({ tenantId: merchantId, paymentId }) => ({ merchantId, paymentId }))
  const others = commands.flatMap(({ origin }) =>
    origin ? [{ merchantId: origin.tenantId, paymentId: origin.paymentId }] : [],
  )
  const named = columns(
    own,
    ({ merchantId }) => merchantId,
    ({ paymentId }) => paymentId,
  )
  // They travel together; the server takes them in this order, payments before accounts, and reads payouts behind them.
  const [known, accounts, payouts] = await Promise.all([
    payments.lockRows<Payment>(tx, LOCK, [...own, ...others]),
    lockAccounts(tx, commands.flatMap(accountsOf)),
    tx.query(PAID_OUT, named),
  ])
  const balances = new Map(
    commands.flatMap(accountsOf).flatMap(({ tenantId, accountId: id }) => {
      const balance = accounts.of(tenantId).get(id)
      return balance === undefined ? [] : [[id, balance] as const]
    }),
  )
  const origins = new Map(
    others.flatMap(({ merchantId, paymentId }) => {
      const payment = known.of(merchantId).get(paymentId)
      return payment ? [[paymentId, payment] as const] : []
    }),
  )
  const shared = {
    origins,
    balances,
    payouts: new Map(payouts.map(({ paymentId, payoutId }) => [paymentId, payoutId])),
  }
  return new ByTenant((tenantId): State => ({ ...shared, payments: known.of(tenantId) }))
}

function decide(state: State, command: Prepared, now: Date): UnassignedCredit {
  const { ids, isReadByHand, origin, paymentId, tenantId } = command
  const payment = state.payments.get(paymentId) ?? fail('payment_not_found')
  const from = origin ? (state.origins.get(origin.paymentId) ?? fail('payment_not_found')) : payment
  if (payment.status !== 'ACCEPTED') {
    const isDone = payment.status === 'UNASSIGNED' || (payment.status === 'SUSPENSE' && payment.takenBack > 0)
    if (!isDone) fail('payment_not_assigned')
    return { payment: from, isRepeat: true, changed: [], journals: [], opens: [], record: undefined, command }
  }
  if (!origin && payment.resolvedAt === null && !isReadByHand) fail('payment_not_assigned')
  requireThere(state, payment)
  const restored: Payment = {
    ...from,
    status: 'SUSPENSE',
    // The code that it was read to be of had accepted it.
    reason: from.qrCodeId === null ? 'unknown_code' : null,
    resolvedAt: null,
    takenBack: from.takenBack + 1,
  }
  const legs: [JournalKind, AccountKind, AccountKind, Payment][] = origin
    ? [
        ['suspense_unassigned', 'payable', 'inter_tenant', payment],
        ['suspense_restored', 'inter_tenant', 'suspense', from],
      ]
    : [['suspense_unassigned', 'payable', 'suspense', payment]]
  const reference = assignmentReference(from)
  const journals = legs.map((leg, n) => journal(command, ids.legs[n]!, reference, leg, now))
  return {
    payment: restored,
    isRepeat: false,
    changed: origin ? [{ ...payment, status: 'UNASSIGNED' }, restored] : [restored],
    journals,
    opens: accountsOf(command).filter(({ accountId: id }) => !state.balances.has(id)),
    record: {
      tenantId,
      journalId: journals[0]!.journalId,
      paymentId,
      amountPaise: payment.amountPaise,
      assignedAt: origin ? null : payment.resolvedAt,
      unassignedAt: now,
      originJournalId: journals[1]?.journalId ?? null,
    },
    command,
  }
}

/** Throws where its money has left, or is about to; the message says what to do first. */
function requireThere({ balances, payouts }: State, payment: Payment): void {
  const { adjustedPaise, amountPaise, disputePaise, merchantId, paymentId, refundPaise } = payment
  const refuse = (description: string) => fail('assignment_not_reversible', { description })
  const payoutId = payouts.get(paymentId)
  if (payoutId !== undefined)
    refuse(
      `The payment is in the payout ${payoutId}: cancel it first, as long as it was not sent to the bank`,
    )
  if (refundPaise > 0n) refuse('The merchant has refunded the payment, at least in part')
  if (disputePaise > 0n) refuse('The payer disputes the payment')
  if (adjustedPaise !== 0n)
    refuse('The amount of the payment was corrected: correct it back to that of its notice first')
  const payable = balances.get(accountId('payable', merchantId)) ?? 0n
  if (payable < amountPaise)
    refuse(
      `${formatRupees(payable)} is payable to the merchant, less than the ${formatRupees(amountPaise)} of the payment: what it refunded or lost in disputes was taken from it`,
    )
}

/** Both journals have the reference of the assignment. */
function journal(
  { reason }: Prepared,
  transferId: string,
  reference: string,
  [kind, debit, credit, { amountPaise, merchantId, paymentId }]: readonly [
    JournalKind,
    AccountKind,
    AccountKind,
    Payment,
  ],
  now: Date,
): Journal {
  return {
    tenantId: merchantId,
    journalId: `jrn_${transferId.slice(4)}`,
    kind,
    reference,
    reverses: null,
    reason,
    at: now,
    transfers: [
      {
        transferId,
        tenantId: merchantId,
        kind,
        debitAccountId: accountId(debit, merchantId),
        creditAccountId: accountId(credit, merchantId),
        amountPaise: paise(amountPaise),
        objectId: paymentId,
        createdAt: now,
      },
    ],
  }
}
