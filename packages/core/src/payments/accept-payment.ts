import { fail } from '@svc/contract/errors'
import type { RailAdapter } from '@svc/contract/rail-adapters'
import { ByTenant } from '@svc/kernel/by-tenant'
import type { Paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { account, lockAccounts } from '../ledger/accounts.ts'
import { saveJournals } from '../ledger/journals.ts'
import { moneyCommand } from '../ledger/money-command.ts'
import type { Transfer } from '../ledger/transfers.ts'
import { qrCodes, updateQrCodes } from '../qr-codes/qr-code.ts'
import {
  type Assignment,
  assignNotices,
  type RailNotice,
  receivedElsewhere,
  storeNotices,
} from '../rails/rail-notice.ts'
import { asStored, type StoredNotices, storedNotices } from '../rails/stored-notices.ts'
import { lockWaiting, requireWaiting, type WaitingNotices } from '../rails/waiting-notices.ts'
import type { Origin } from '../tenants/homes.ts'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { credited, creditJournal, eventsOf, transferOf } from './credit-effects.ts'
import { type Credit, contradiction, type ReadNotice } from './credit-notice.ts'
import { creditedDirectory } from './credited-directory.ts'
import { NEW_PAYMENT } from './new-payment.ts'
import { type CodeFacts, type Payment, payments } from './payment.ts'
import { type Payable, refusalOf } from './refuse-credit.ts'
import { payeeOf, toNotice } from './suspense/kept-credit.ts'
import { READ_BY_HAND } from './suspense/read-by-hand.ts'

/** A signed notice with what can be read of it. */
interface AcceptPaymentArgs extends Origin {
  readonly notice: Buffer
  readonly read: ReadNotice
  /** Of the bank that sent it. */
  readonly adapter?: RailAdapter | undefined
  /** An operator says what a notice in quarantine means. */
  readonly assigns?: Omit<Assignment, 'paymentId'>
  /** Why the notice was in quarantine. */
  readonly reason?: string | undefined
}

interface AcceptPayment extends PreparedCommand {
  readonly args: AcceptPaymentArgs
  readonly credit: Credit | undefined
  readonly qrCodeId: string | null
  /** Largest amount that a code of a merchant of this category accepts. */
  readonly capPaiseOf: (mcc: string) => Paise
  readonly graceMs: number
  readonly ids: {
    readonly payment: string
    readonly transfer: string
    readonly event: string
    readonly cancelled: string
  }
  readonly timeZone: string
}

/** With the notice of its credit, where it has one. */
type Known = Payment & { readonly notice: Buffer | null }

interface State {
  readonly codes: Map<string, Payable>
  /** By UTR, and the same for all tenants: a UTR names one credit, whichever tenant it is for (decision Q11). */
  readonly known: Map<string, Known>
  /** Notices that the route of another kind has received. */
  readonly elsewhere: ReadonlySet<Buffer>
  readonly stored: StoredNotices
  readonly waiting: WaitingNotices
}

interface Recorded {
  /** Absent when the notice went to quarantine. */
  readonly payment: Known | undefined
  /** What is kept of a notice that is no new payment. */
  readonly kept: RailNotice | undefined
  /** Of the code that the credit names. */
  readonly facts: CodeFacts
  readonly isNew: boolean
  /** The code after an accepted payment. */
  readonly code: Payable | undefined
  readonly transfer: Transfer | undefined
  readonly command: AcceptPayment
}

const KNOWN = statement<Known>(
  'directory_payments',
  `select ${payments.columns}, p.notice from directory_payments($1) p`,
)

const LOCK = qrCodes.lock<Pick<Payable, 'mcc' | 'disabledAt'>>('to_pay', {
  select: 'm.mcc, t.disabled_at as "disabledAt"',
  joins: 'join merchants m using (merchant_id) join tenants t on t.tenant_id = q.merchant_id',
})

/**
 * Records a credit that a bank reports (decision Q11): the money stays (`ACCEPTED`), has to be sent back
 * (`REFUND_PENDING`), or fits no code (`SUSPENSE`). A notice that cannot be read goes to quarantine.
 */
export const acceptPayment = moneyCommand<AcceptPaymentArgs, AcceptPayment, State, Recorded>({
  name: 'acceptPayment',
  isSigned: true,

  approval: READ_BY_HAND,

  prepare({ config, database, keyring, newId }) {
    const creditedBy = creditedDirectory(database, keyring)
    const caps = config.QR_AMOUNT_CAPS
    return async (args: AcceptPaymentArgs): Promise<AcceptPayment> => {
      const credit = 'credit' in args.read ? args.read.credit : undefined
      const credited = credit && (await creditedBy(credit, args))
      const tenantId = credited?.tenantId ?? PLATFORM_TENANT
      return {
        args,
        credit,
        tenantId,
        otherTenantId: args.assigns?.noticeTenantId,
        qrCodeId: credited?.qrCodeId ?? null,
        capPaiseOf: (mcc) => caps.get(mcc) ?? caps.get('default')!,
        graceMs: config.RAIL_GRACE_SECONDS * 1_000,
        ids: { payment: newId('pay'), transfer: newId('trf'), event: newId('evt'), cancelled: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock,
  decide: (state, command, now) => asStored(state.stored, decide(state, command, now)),
  apply({ codes, known, waiting }, { payment, code, isNew, command: { args } }) {
    if (args.assigns && isNew) waiting.delete(args.assigns.noticeId)
    if (payment) known.set(payment.utr, payment)
    if (code) codes.set(code.qrCodeId, code)
  },

  save(tx, decisions) {
    const recorded = decisions.filter((decision) => decision.isNew)
    updateQrCodes(
      tx,
      recorded.flatMap(({ code }) => code ?? []),
    )
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      recorded.flatMap(({ transfer, payment, command }) =>
        transfer ? creditJournal(transfer, payment!, command.timeZone) : [],
      ),
    )
    payments.insert(
      tx,
      recorded.flatMap(({ payment, command }) =>
        payment ? [{ ...payment, notice: command.args.notice }] : [],
      ),
    )
    saveEvents(tx, recorded.flatMap(eventsOf))
    storeNotices(
      tx,
      decisions.flatMap(({ kept }) => kept ?? []),
    )
    const assigned = recorded.flatMap(({ payment, command: { args } }) =>
      payment && args.assigns ? [{ ...args.assigns, payment }] : [],
    )
    if (assigned.length > 0)
      assignNotices(
        tx,
        assigned.map(({ payment: { paymentId }, ...assignment }) => ({ ...assignment, paymentId })),
        assigned[0]!.payment.createdAt,
      )
  },
})

async function lock(tx: BatchTx, commands: readonly AcceptPayment[]): Promise<ByTenant<State>> {
  const credits = commands.flatMap(({ credit, tenantId, qrCodeId }) =>
    credit ? [{ utr: credit.utr, tenantId, qrCodeId }] : [],
  )
  const toCodes = credits.flatMap(({ tenantId: merchantId, qrCodeId }) =>
    qrCodeId === null ? [] : [{ merchantId, qrCodeId }],
  )
  const locking = qrCodes.lockRows(tx, LOCK, toCodes)
  const knowing = tx.query(KNOWN, [credits.map(({ utr }) => utr)])
  const accounts = lockAccounts(
    tx,
    credits.flatMap(({ tenantId, qrCodeId }) => {
      const kinds =
        qrCodeId === null
          ? (['upi_clearing', 'suspense'] as const)
          : (['upi_clearing', 'payable', 'upi_refunds'] as const)
      return kinds.map((kind) => account(kind, tenantId))
    }),
  )
  const uncertain = commands.flatMap(({ args: { notice, read } }) =>
    'credit' in read && !read.isCertain ? [notice] : [],
  )
  const waits = lockWaiting(
    tx,
    commands.map(({ args: { assigns } }) => assigns),
  )
  // They travel together; the server takes them in this order, codes before accounts before notices.
  const [ofTenants, rows, waiting, elsewhere] = await Promise.all([
    locking,
    knowing,
    waits,
    receivedElsewhere(tx, uncertain, 'credit'),
    accounts,
  ])
  const known = new Map(rows.map((payment) => [payment.utr, payment]))
  const toKeep = commands.flatMap(({ tenantId, args: { notice }, credit }) => {
    const first = credit && known.get(credit.utr)
    const isKept = first ? !first.notice?.equals(notice) : !credit || elsewhere.has(notice)
    return isKept ? [{ tenantId, notice }] : []
  })
  const stored = await storedNotices(tx, toKeep, 'credit')
  return new ByTenant(
    (tenantId): State => ({
      codes: ofTenants.of(tenantId),
      known,
      elsewhere,
      stored: stored.of(tenantId),
      waiting,
    }),
  )
}

const NO_CODE: CodeFacts = { referenceNumber: null, customParams: null }

function decide(state: State, command: AcceptPayment, now: Date): Recorded {
  const { codes, known, elsewhere, waiting } = state
  const { args, credit, ids } = command
  requireWaiting(waiting, args.assigns)
  const nothingNew = { facts: NO_CODE, isNew: false, code: undefined, transfer: undefined, command }
  if (!credit) {
    const why = 'unreadable' in args.read ? { ...args.read, reason: args.read.unreadable } : { reason: null }
    return { ...nothingNew, payment: undefined, kept: toNotice(command, undefined, why, now) }
  }
  const first = known.get(credit.utr)
  if (!first && elsewhere.has(args.notice))
    return {
      ...nothingNew,
      payment: undefined,
      kept: toNotice(command, undefined, { reason: 'wrong_route' }, now),
    }
  if (first) {
    if (args.assigns) fail('utr_conflict')
    if (first.notice?.equals(args.notice) === true) return { ...nothingNew, payment: first, kept: undefined }
    const other = contradiction({ ...first, payeeVpa: payeeOf(first, args.adapter, now) }, credit)
    if (other) {
      const kept = toNotice(command, first, { reason: 'contradicts_earlier_notice', ...other }, now)
      return { ...nothingNew, payment: undefined, kept }
    }
    const kept = first.notice === null ? undefined : toNotice(command, first, { reason: null }, now)
    return { ...nothingNew, payment: first, kept }
  }
  const code = command.qrCodeId === null ? undefined : codes.get(command.qrCodeId)
  const reason = code ? refusalOf(code, credit, command, now) : 'unknown_code'
  const { utr, tr, amountPaise, payerVpa, transactionAt, flags } = credit
  const payment: Known = {
    paymentId: ids.payment,
    merchantId: command.tenantId,
    qrCodeId: command.qrCodeId,
    utr,
    tr,
    amountPaise,
    payerVpa,
    status: !code ? 'SUSPENSE' : reason ? 'REFUND_PENDING' : 'ACCEPTED',
    reason: reason ?? null,
    createdAt: now,
    ...NEW_PAYMENT,
    transactionAt,
    flags,
    notice: args.notice,
  }
  return {
    payment,
    kept: undefined,
    facts: code ?? NO_CODE,
    isNew: true,
    code: code && !reason ? credited(code, payment) : undefined,
    transfer: transferOf(payment, ids.transfer),
    command,
  }
}
