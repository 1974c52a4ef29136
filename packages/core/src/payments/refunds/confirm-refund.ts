import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { PreparedCommand } from '@svc/platform/db/batch'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import type { AccountKind } from '../../ledger/chart-of-accounts.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import type { QuarantineReason } from '../../rails/quarantine-reason.ts'
import {
  type Assignment,
  assignNotices,
  noticeDigest,
  notNew,
  type RailNotice,
  receivedElsewhere,
  storeNotices,
} from '../../rails/rail-notice.ts'
import { asStored, type StoredNotices, storedNotices } from '../../rails/stored-notices.ts'
import { lockWaiting, requireWaiting, type WaitingNotices } from '../../rails/waiting-notices.ts'
import { type Origin, requireHere } from '../../tenants/homes.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { CODE_FACTS, type CodeFacts, type Payment, paymentEvent, payments } from '../payment.ts'
import type { ReturnedCredit } from './refund-notice.ts'

interface ConfirmRefundArgs extends Origin {
  readonly credit: ReturnedCredit
  /** The notice as the bank signed it; without one an operator reports what the bank says. */
  readonly notice?: Buffer
  /** The notice in quarantine that an operator follows. */
  readonly assigns?: Omit<Assignment, 'paymentId'> | undefined
}

interface ConfirmRefund extends PreparedCommand, ConfirmRefundArgs {
  readonly utr: string
  readonly ids: { readonly transfer: string; readonly event: string }
  readonly timeZone: string
}

/** With the SHA-256 of the notice of its credit, where it has one. */
type Refundable = Payment & CodeFacts & { readonly noticeDigest: Buffer | null }

interface State {
  readonly payments: Map<string, Refundable>
  /** Notices that the route of another kind has received. */
  readonly elsewhere: ReadonlySet<Buffer>
  readonly stored: StoredNotices
  readonly waiting: WaitingNotices
}

interface Confirmed {
  /** Absent where the notice went to quarantine. */
  readonly payment: Refundable | undefined
  readonly done: { readonly payment: Refundable; readonly transfer: Transfer } | undefined
  readonly kept: RailNotice | undefined
  readonly at: Date
  readonly command: ConfirmRefund
}

const OF_UTRS = statement<Payment>(
  'directory_payments_to_refund',
  `select ${payments.columns} from directory_payments($1) p`,
)

const LOCK = payments.lock<Omit<Refundable, keyof Payment>>('to_refund', {
  select: `${CODE_FACTS}, sha256(p.notice) as "noticeDigest"`,
  joins: 'left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id',
  where: '(p.merchant_id, p.utr) in (select * from unnest($1::text[], $2::text[]))',
})

const saveRefunded = payments.updates(['status', 'refundedAt'])

/** Statuses of a credit that goes back to its payer, or has gone. */
const RETURNABLE: ReadonlySet<Payment['status']> = new Set(['SUSPENSE', 'REFUND_PENDING', 'REFUNDED'])

const tenantOf = (refund: ConfirmRefund) => refund.tenantId
const utrOf = (refund: ConfirmRefund) => refund.utr

/**
 * Records that the bank returned a credit that was not accepted to its payer (decision Q11); a repeat changes nothing. A
 * notice that fits no such credit goes to quarantine. What an operator reports without one is refused then, and of a credit
 * in suspense too: that leaves by `resolveSuspense`, above the limit with a second person.
 */
export const confirmRefund = command({
  name: 'confirmRefund',
  isSigned: true,

  prepare({ config, database, newId }) {
    const found = new BatchedLookup<Payment>(
      (keys) => database.directory(OF_UTRS, [keys.map(({ id }) => id)]),
      ({ utr }) => ({ tenantId: '', id: utr }),
    )
    return async (args: ConfirmRefundArgs): Promise<ConfirmRefund> => {
      const { utr } = args.credit
      const credited = await found.get('', utr)
      if (!credited) requireHere(args)
      const tenantId = credited?.merchantId ?? PLATFORM_TENANT
      const otherTenantId = args.assigns?.noticeTenantId
      const ids = { transfer: newId('trf'), event: newId('evt') }
      return { ...args, tenantId, otherTenantId, utr, ids, timeZone: config.BUSINESS_TIME_ZONE }
    }
  },

  async lock(tx, refunds) {
    const wanted = lastOfEach(refunds, tenantOf, utrOf)
    const locking = tx.lock(LOCK, columns(wanted, tenantOf, utrOf), wanted.length)
    const kinds = ['upi_clearing', 'upi_refunds', 'suspense'] as const
    const accounts = refunds.flatMap(({ tenantId }) => kinds.map((kind) => account(kind, tenantId)))
    // They travel together; the server takes them in this order, payments before accounts before notices.
    const [rows, elsewhere, , waiting, stored] = await Promise.all([
      locking,
      receivedElsewhere(
        tx,
        refunds.flatMap(({ notice }) => notice ?? []),
        'refund',
      ),
      lockAccounts(tx, accounts),
      lockWaiting(
        tx,
        refunds.map(({ assigns }) => assigns),
      ),
      storedNotices(tx, refunds, 'refund'),
    ])
    const ofTenant = byTenant<Refundable, Refundable>(
      rows,
      ({ merchantId }) => merchantId,
      ({ utr }) => utr,
      (payment) => payment,
    )
    return new ByTenant(
      (tenantId): State => ({
        payments: ofTenant.of(tenantId),
        elsewhere,
        stored: stored.of(tenantId),
        waiting,
      }),
    )
  },

  decide: (state, command, now) => asStored(state.stored, decide(state, command, now)),

  apply({ payments, waiting }, { done, payment, command: { assigns } }) {
    if (assigns && payment) waiting.delete(assigns.noticeId)
    if (done) payments.set(done.payment.utr, done.payment)
  },

  save(tx, decisions) {
    storeNotices(
      tx,
      decisions.flatMap(({ kept }) => kept ?? []),
    )
    const assigned = decisions.flatMap(({ payment, at, command: { assigns } }) =>
      assigns && payment ? [{ ...assigns, paymentId: payment.paymentId, at }] : [],
    )
    if (assigned.length > 0) assignNotices(tx, assigned, assigned[0]!.at)
    const all = decisions.flatMap(({ done, command }) => (done ? [{ ...done, command }] : []))
    if (all.length === 0) return
    saveJournals(
      tx,
      all[0]!.command.timeZone,
      all.map(({ transfer, payment }) => journalOf(transfer, payment.utr)),
    )
    saveRefunded(
      tx,
      all.map(({ payment }) => payment),
    )
    saveEvents(
      tx,
      all.map(({ payment, command: { ids, timeZone } }) =>
        paymentEvent('refunded', payment, ids.event, timeZone),
      ),
    )
  },
})

function decide({ payments, elsewhere, waiting }: State, refund: ConfirmRefund, now: Date): Confirmed {
  requireWaiting(waiting, refund.assigns)
  const payment = payments.get(refund.utr)
  const nothing = { payment: undefined, done: undefined, kept: undefined, at: now, command: refund }
  if (!payment) return { ...nothing, kept: toNotice(refund, 'unknown_payment', payment, now) }
  const reason = contradiction(payment, refund)
  if (reason) return { ...nothing, kept: toNotice(refund, reason, payment, now) }
  if (payment.status === 'REFUNDED') return { ...nothing, payment }
  const { notice } = refund
  if (notice && (elsewhere.has(notice) || payment.noticeDigest?.equals(noticeDigest(notice))))
    return { ...nothing, kept: toNotice(refund, 'wrong_route', payment, now) }
  const from: AccountKind = payment.status === 'SUSPENSE' ? 'suspense' : 'upi_refunds'
  const refunded: Refundable = { ...payment, status: 'REFUNDED', refundedAt: now }
  return {
    ...nothing,
    payment: refunded,
    done: {
      payment: refunded,
      transfer: {
        transferId: refund.ids.transfer,
        tenantId: payment.merchantId,
        kind: 'upi_refund',
        debitAccountId: accountId(from, payment.merchantId),
        creditAccountId: accountId('upi_clearing', payment.merchantId),
        amountPaise: payment.amountPaise,
        objectId: payment.paymentId,
        createdAt: now,
      },
    },
  }
}

/** How a report contradicts what is recorded of its credit; nothing where the credit goes back, or has gone. */
function contradiction(
  { amountPaise, status }: Refundable,
  { credit, notice }: ConfirmRefund,
): QuarantineReason | undefined {
  // Also one that was assigned between its lookup and its lock: the money is payable to its merchant.
  if (!RETURNABLE.has(status)) return 'payment_accepted'
  if (!notice && status === 'SUSPENSE') fail('payment_not_returning')
  if (credit.amountPaise !== undefined && credit.amountPaise !== amountPaise)
    return 'contradicts_earlier_notice'
}

/** A signed notice of no such credit, for an operator to read; an operator's own report is refused. */
const toNotice = (
  { tenantId, utr, notice }: ConfirmRefund,
  reason: QuarantineReason,
  payment: Refundable | undefined,
  now: Date,
): RailNotice =>
  notNew(
    {
      tenantId,
      body: notice ?? fail(payment ? 'payment_not_returning' : 'payment_not_found'),
      reason,
      ...(reason === 'contradicts_earlier_notice' && { field: 'amount' }),
      utr,
      paymentId: payment?.paymentId,
      flags: ['refund_notice'],
    },
    now,
  )
