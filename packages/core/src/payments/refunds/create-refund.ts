import { createHash } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { saveJournals } from '../../ledger/journals.ts'
import { type Approvable, moneyCommand } from '../../ledger/money-command.ts'
import { StoredPaiseOrNone, StoredTextOrNone, storedArgs } from '../../ledger/stored-args.ts'
import { CODE_FACTS, type CodeFacts, correctedPaise, type Payment, payments } from '../payment.ts'
import { addMoved, type Moved, refundedByOperators } from '../payouts/by-one-person.ts'
import {
  journalIdOf,
  type LegIds,
  type MerchantRefund,
  merchantRefunds,
  refundAccounts,
  refundEvent,
  requestedJournal,
} from './merchant-refund.ts'

export interface RefundRequest {
  readonly merchantId: string
  readonly paymentId: string
  /** By default all that is left of the payment. */
  readonly amountPaise: Paise | undefined
  readonly referenceNumber: string
  readonly reason: string | undefined
  /** The operator who refunds on behalf of the merchant (decision R10). */
  readonly requestedBy?: string | undefined
}

interface CreateRefund extends RefundRequest, Approvable, PreparedCommand {
  readonly requestHash: Buffer
  readonly mayAdvance: boolean
  readonly ids: { readonly refund: string; readonly legs: LegIds; readonly event: string }
  readonly timeZone: string
}

export type Refundable = Payment & CodeFacts

interface State {
  readonly payments: Map<string, Refundable>
  readonly byReference: Map<string, MerchantRefund>
  /** By account. */
  readonly balances: Map<string, bigint>
  readonly byOperators: Moved
}

interface Created {
  readonly refund: MerchantRefund & { readonly status: MerchantRefund['status'] }
  /** The payment after it; absent for a repeat, which changes nothing. */
  readonly payment: Refundable | undefined
  readonly opens: readonly Account[]
  /** What operators refunded of the payment before without a second person. */
  readonly beforePaise: bigint
  readonly command: CreateRefund
}

/** Every refund and dispute, and what becomes of it, locks its payment first: so they never exceed it. */
export const LOCK_PAYMENT = payments.lock<CodeFacts>('of_refund', {
  select: CODE_FACTS,
  joins: 'left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id',
})
export const saveRefunding = payments.updates(['refundPaise'], 'refund')

const BY_REFERENCE = statement<MerchantRefund>(
  'merchant_refunds_by_reference',
  `select ${merchantRefunds.columns} from merchant_refunds r
   where (r.merchant_id, r.reference_number) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Refunds an accepted payment, or a part of it (decision Q14). A repeat of the reference returns the first refund. */
export const createRefund = moneyCommand({
  name: 'createRefund',

  approval: {
    kinds: ['merchant_refund'],
    isOfTenants: true,
    args: storedArgs(
      Type.Object({
        merchantId: Type.String(),
        paymentId: Type.String(),
        amountPaise: StoredPaiseOrNone,
        referenceNumber: Type.String(),
        reason: StoredTextOrNone,
        requestedBy: Type.Optional(Type.String()),
      }),
    ),
    moves: ({ beforePaise, payment, refund }) =>
      payment && {
        kind: 'merchant_refund',
        amountPaise: refund.amountPaise,
        reference: refund.referenceNumber,
        facts: { paymentId: refund.paymentId },
        reason: refund.reason ?? '',
        journalId: journalIdOf(refund),
        beforePaise,
      },
    failures: [
      'payment_not_found',
      'payment_not_accepted',
      'refund_over_payment',
      'refund_reference_in_use',
      'payable_too_low',
    ],
  },

  prepare:
    ({ config, newId }) =>
    (args: RefundRequest): CreateRefund => {
      const { paymentId, amountPaise, reason } = args
      const requestText = canonicalJson([paymentId, String(amountPaise ?? ''), reason ?? null])
      return {
        ...args,
        tenantId: args.merchantId,
        requestHash: createHash('sha256').update(requestText).digest(),
        mayAdvance: config.REFUNDS_BEYOND_BALANCE === 'allow',
        ids: { refund: newId('rfd'), legs: [newId('trf'), newId('trf')], event: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock,
  decide,

  apply({ payments, byReference, balances, byOperators }, { refund, payment, command: { approvalId } }) {
    if (!payment) return
    payments.set(payment.paymentId, payment)
    byReference.set(refund.referenceNumber, refund)
    if (refund.requestedBy !== null && approvalId === undefined)
      addMoved(byOperators, refund.paymentId, refund.amountPaise)
    const payable = accountId('payable', refund.merchantId)
    balances.set(payable, balances.get(payable)! - (refund.amountPaise - refund.advancedPaise))
    if (refund.advancedPaise > 0n) balances.set(accountId('merchant_advances', refund.merchantId), 0n)
  },

  save(tx, decisions) {
    const created = decisions.flatMap(({ payment, ...rest }) => (payment ? [{ payment, ...rest }] : []))
    if (created.length === 0) return
    saveRefunding(
      tx,
      created.map(({ payment }) => payment),
    )
    saveJournals(
      tx,
      created[0]!.command.timeZone,
      created.map(({ refund, command }) => requestedJournal(refund, command.ids.legs)),
      created.flatMap(({ opens }) => opens),
    )
    merchantRefunds.insert(
      tx,
      created.map(({ refund }) => refund),
    )
    saveEvents(
      tx,
      created.map(({ refund, payment, command: { ids, timeZone } }) =>
        refundEvent(payment, { ...refund, status: 'PENDING' }, ids.event, timeZone),
      ),
    )
  },
})

async function lock(tx: BatchTx, commands: readonly CreateRefund[]): Promise<ByTenant<State>> {
  // They travel together; the server takes them in this order: a reference, and what operators refunded before, is read
  // once its payment is locked.
  const byOperators = commands.filter(({ requestedBy }) => requestedBy !== undefined)
  const [ofPayments, known, moved, balances] = await Promise.all([
    payments.lockRows(tx, LOCK_PAYMENT, commands),
    tx.query(
      BY_REFERENCE,
      columns(
        commands,
        (args) => args.merchantId,
        (args) => args.referenceNumber,
      ),
    ),
    refundedByOperators(tx, byOperators),
    lockAccounts(
      tx,
      commands.flatMap(({ merchantId }) => refundAccounts(merchantId)),
    ),
  ])
  return new ByTenant((tenantId): State => {
    const own = known.filter(({ merchantId }) => merchantId === tenantId)
    return {
      payments: ofPayments.of(tenantId),
      byReference: new Map(own.map((refund) => [refund.referenceNumber, refund])),
      balances: balances.of(tenantId),
      byOperators: moved.of(tenantId),
    }
  })
}

function decide(state: State, command: CreateRefund, now: Date): Created {
  const { payments, byReference, balances } = state
  const { merchantId, paymentId, referenceNumber, requestHash } = command
  const first = byReference.get(referenceNumber)
  if (first && !first.requestHash.equals(requestHash)) fail('refund_reference_in_use')
  const beforePaise = state.byOperators.get(paymentId) ?? 0n
  if (first) return { refund: first, payment: undefined, opens: [], beforePaise, command }
  const payment = payments.get(paymentId) ?? fail('payment_not_found')
  if (payment.status !== 'ACCEPTED') fail('payment_not_accepted')
  const amountPaise = amountOf(payment, command.amountPaise)
  const payable = balances.get(accountId('payable', merchantId))!
  const advancedPaise = paise(amountPaise > payable ? amountPaise - payable : 0n)
  if (advancedPaise > 0n && !command.mayAdvance) fail('payable_too_low')
  const refund: MerchantRefund = {
    merchantId,
    refundId: command.ids.refund,
    paymentId,
    amountPaise,
    advancedPaise,
    referenceNumber,
    reason: command.reason ?? null,
    requestedBy: command.requestedBy ?? null,
    requestHash,
    status: 'PENDING',
    failureReason: null,
    runId: null,
    utr: null,
    createdAt: now,
    sentAt: null,
    completedAt: null,
    failedAt: null,
    refundedLateAt: null,
  }
  const advances = account('merchant_advances', merchantId)
  const opens = advancedPaise > 0n && !balances.has(advances.accountId) ? [advances] : []
  return {
    refund,
    payment: { ...payment, refundPaise: paise(payment.refundPaise + amountPaise) },
    opens,
    beforePaise,
    command,
  }
}

/** The invariant of refunds: together, and with disputes, they never exceed their payment. */
function amountOf(payment: Refundable, requestedPaise: Paise | undefined): Paise {
  const left = paise(correctedPaise(payment) - payment.refundPaise - payment.disputePaise)
  const amount = requestedPaise ?? left
  if (amount > left || left === 0n)
    fail('refund_over_payment', { description: `${formatRupees(left)} rupees are left of the payment` })
  return amount
}
