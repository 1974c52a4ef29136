import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import type { JournalKind } from '../../ledger/posting-rules.ts'
import { orNull, storedArgs } from '../../ledger/stored-args.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { assignmentReference, type Payment, paymentEvent, payments } from '../payment.ts'

export interface ResolveSuspense {
  /** Where it is: a merchant, or the platform for a credit that fits no merchant. */
  readonly tenantId: string
  readonly paymentId: string
  /** Whom it belongs to; `null` returns it to its payer. */
  readonly merchantId: string | null
  /** An operator read it in a notice: no word of the bank names its merchant, and it may go to any. */
  readonly isReadByHand?: boolean | undefined
  readonly reason: string
}

interface Prepared extends ResolveSuspense, PreparedCommand {
  readonly ids: { readonly payment: string; readonly legs: readonly [string, string]; readonly event: string }
  readonly timeZone: string
}

interface State {
  readonly payments: Map<string, Payment>
  /** Of the platform's payments, the merchants' that were assigned from them. */
  readonly assigned: Map<string, Payment>
  /** The accounts that exist, of all tenants. */
  readonly open: Set<string>
}

export interface ResolvedSuspense {
  /** The payment as it is now: the merchant's, if it was assigned. */
  readonly payment: Payment
  readonly isRepeat: boolean
  /** The payment in suspense, after it. */
  readonly resolved: Payment
  /** The merchant's new one, where it was in the platform's suspense. */
  readonly created: Payment | undefined
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
  readonly command: Prepared
}

const LOCK = payments.lock('in_suspense')
const saveResolved = payments.updates(['status', 'reason', 'resolvedAt'], 'resolve')
const ASSIGNED = statement<Payment>(
  'payments_assigned',
  `select ${payments.columns} from payments p where p.assigned_from = any ($1) and p.status <> 'UNASSIGNED'`,
)
const saveAssigned = payments.updates(['resolvedAt', 'assignedFrom'], 'assign')
// A credit of an earlier day is due again to be paid out.
const MOVE_BACK = statement(
  'payout_positions_for_suspense',
  `update payout_positions o set due_from = least(o.due_from, w.first_at),
     accrued_to = case when o.accrued_to > w.first_at then w.first_at else o.accrued_to end
   from (select u.merchant_id, min(u.at) as first_at from unnest($1::text[], $2::timestamptz[]) as u (merchant_id, at)
     group by u.merchant_id) as w
   where o.merchant_id = w.merchant_id`,
)

/**
 * Ends a credit's wait in suspense (decision Q16): it is assigned to a merchant, or the bank is to return it. Out of the
 * platform's suspense it goes by two linked journals, each within its tenant (decision R9). A repeat changes nothing.
 */
export const resolveSuspense = moneyCommand({
  name: 'resolveSuspense',

  approval: {
    kinds: ['suspense_assigned', 'suspense_returned'],
    args: storedArgs(
      Type.Object({
        tenantId: Type.String(),
        paymentId: Type.String(),
        merchantId: orNull(Type.String()),
        isReadByHand: Type.Optional(Type.Boolean()),
        reason: Type.String(),
      }),
    ),
    moves: ({ journals: [journal], resolved, command: { merchantId, paymentId, reason } }) =>
      journal && {
        kind: merchantId === null ? 'suspense_returned' : 'suspense_assigned',
        amountPaise: resolved.amountPaise,
        reference: resolved.utr,
        facts: { paymentId, merchantId },
        reason,
        journalId: journal.journalId,
      },
    failures: ['payment_not_found', 'suspense_resolved'],
  },

  prepare:
    ({ config, newId }) =>
    (args: ResolveSuspense): Prepared => {
      return {
        ...args,
        otherTenantId: args.merchantId ?? undefined,
        ids: { payment: newId('pay'), legs: [newId('trf'), newId('trf')], event: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock,
  decide,

  apply(state, { resolved, created, opens }) {
    state.payments.set(resolved.paymentId, resolved)
    if (created) state.assigned.set(resolved.paymentId, created)
    for (const { accountId: id } of opens) state.open.add(id)
  },

  save(tx, decisions) {
    const done = decisions.filter(({ isRepeat }) => !isRepeat)
    if (done.length === 0) return
    saveResolved(
      tx,
      done.map(({ resolved }) => resolved),
    )
    const created = done.flatMap((each) => each.created ?? [])
    payments.insert(
      tx,
      created.map((payment) => ({ ...payment, notice: null })),
    )
    saveAssigned(tx, created)
    const credited = done.map(({ payment }) => payment).filter(({ status }) => status === 'ACCEPTED')
    tx.write(MOVE_BACK, [
      credited.map(({ merchantId }) => merchantId),
      credited.map(({ createdAt }) => createdAt),
    ])
    saveJournals(
      tx,
      done[0]!.command.timeZone,
      done.flatMap(({ journals }) => journals),
      done.flatMap(({ opens }) => opens),
    )
    saveEvents(tx, done.map(eventOf))
  },
})

const eventOf = ({ payment, command: { ids, timeZone } }: ResolvedSuspense): OutboxEvent =>
  paymentEvent(
    payment.status === 'ACCEPTED' ? 'assigned' : 'refund_pending',
    { ...payment, referenceNumber: null, customParams: null },
    ids.event,
    timeZone,
  )

const accountsOf = ({ tenantId, merchantId }: ResolveSuspense): Account[] => [
  account('suspense', tenantId),
  ...(merchantId === null ? [account('upi_refunds', tenantId)] : [account('payable', merchantId)]),
  ...(merchantId !== null && merchantId !== tenantId
    ? [account('inter_tenant', tenantId), account('inter_tenant', merchantId)]
    : []),
]

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const keys = commands.map(({ tenantId: merchantId, paymentId }) => ({ merchantId, paymentId }))
  // They travel together; the server takes them in this order, payments before accounts.
  const [known, assigned, balances] = await Promise.all([
    payments.lockRows<Payment>(tx, LOCK, keys),
    tx.query(ASSIGNED, [commands.map(({ paymentId }) => paymentId)]),
    lockAccounts(tx, commands.flatMap(accountsOf)),
  ])
  const open = new Set(
    commands
      .flatMap(accountsOf)
      .filter(({ tenantId, accountId: id }) => balances.of(tenantId).has(id))
      .map(({ accountId: id }) => id),
  )
  const byOrigin = new Map(assigned.map((payment) => [payment.assignedFrom!, payment]))
  return new ByTenant((tenantId): State => ({ payments: known.of(tenantId), assigned: byOrigin, open }))
}

function decide(state: State, command: Prepared, now: Date): ResolvedSuspense {
  const { isReadByHand = false, tenantId, merchantId, paymentId } = command
  const payment = state.payments.get(paymentId) ?? fail('payment_not_found')
  const nothing = { isRepeat: true, resolved: payment, created: undefined, journals: [], opens: [], command }
  const before = resolvedBefore(payment, state.assigned.get(paymentId), merchantId)
  if (before) return { ...nothing, payment: before }
  if (payment.status !== 'SUSPENSE') return fail('suspense_resolved')
  const at = { resolvedAt: now }
  if (merchantId === null) {
    const returned: Payment = { ...payment, ...at, status: 'REFUND_PENDING' }
    const journals = [
      journal(command, payment, 'suspense_returned', ['suspense', 'upi_refunds', tenantId], now),
    ]
    return { ...nothing, isRepeat: false, payment: returned, resolved: returned, journals }
  }
  if (merchantId === tenantId) {
    const accepted: Payment = { ...payment, ...at, status: 'ACCEPTED', reason: null }
    const journals = [journal(command, payment, 'suspense_assigned', ['suspense', 'payable', tenantId], now)]
    return { ...nothing, isRepeat: false, payment: accepted, resolved: accepted, journals }
  }
  if (tenantId !== PLATFORM_TENANT && !isReadByHand)
    fail('suspense_resolved', { description: 'The payment is of another merchant' })
  const created: Payment = {
    ...payment,
    ...at,
    merchantId,
    qrCodeId: null,
    paymentId: command.ids.payment,
    status: 'ACCEPTED',
    reason: null,
    createdAt: now,
    assignedFrom: paymentId,
    takenBack: 0,
  }
  return {
    ...nothing,
    isRepeat: false,
    payment: created,
    resolved: { ...payment, ...at, status: 'ASSIGNED' },
    created,
    journals: [
      journal(command, payment, 'suspense_assigned', ['suspense', 'inter_tenant', tenantId], now),
      journal(command, created, 'upi_credit', ['inter_tenant', 'payable', merchantId], now),
    ],
    opens: [account('inter_tenant', tenantId), account('inter_tenant', merchantId)].filter(
      ({ accountId: id }) => !state.open.has(id),
    ),
  }
}

/** The payment of a repeat: it was resolved in the same way before. */
function resolvedBefore(
  payment: Payment,
  assigned: Payment | undefined,
  merchantId: string | null,
): Payment | undefined {
  if (payment.resolvedAt === null) return undefined
  if (merchantId === null)
    return payment.status === 'REFUND_PENDING' || payment.status === 'REFUNDED' ? payment : undefined
  if (payment.status === 'ASSIGNED') return assigned?.merchantId === merchantId ? assigned : undefined
  return payment.status === 'ACCEPTED' && payment.merchantId === merchantId ? payment : undefined
}

type Side = 'suspense' | 'payable' | 'upi_refunds' | 'inter_tenant'

/** Both journals of one assignment have the bank's reference. */
function journal(
  { ids, reason, tenantId }: Prepared,
  payment: Payment,
  kind: JournalKind,
  [debit, credit, owner]: readonly [Side, Side, string],
  now: Date,
): Journal {
  const { paymentId, amountPaise } = payment
  const transferId = ids.legs[owner === tenantId ? 0 : 1]
  return {
    tenantId: owner,
    journalId: `jrn_${transferId.slice(4)}`,
    kind,
    reference: assignmentReference(payment),
    reverses: null,
    reason,
    at: now,
    transfers: [
      {
        transferId,
        tenantId: owner,
        kind,
        debitAccountId: accountId(debit, owner),
        creditAccountId: accountId(credit, owner),
        amountPaise: paise(amountPaise),
        objectId: paymentId,
        createdAt: now,
      },
    ],
  }
}
