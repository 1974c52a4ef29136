import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { accountId, lockAccounts } from '../../ledger/accounts.ts'
import { saveJournals } from '../../ledger/journals.ts'
import { assignNotices, storeNotices } from '../../rails/rail-notice.ts'
import { asStored, storedNotices } from '../../rails/stored-notices.ts'
import { lockWaiting } from '../../rails/waiting-notices.ts'
import { requireHere } from '../../tenants/homes.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { type Payment, payments } from '../payment.ts'
import { LOCK_PAYMENT, type Refundable } from '../refunds/create-refund.ts'
import { storeWonNotices } from '../refunds/outcome-notice.ts'
import { saveClosed } from './close-dispute.ts'
import { decide, type ReceiveDispute, type ReceiveDisputeArgs, type State } from './decide-dispute.ts'
import {
  closedJournals,
  type Dispute,
  disputeAccounts,
  disputeEvent,
  disputes,
  openedJournal,
} from './dispute.ts'
import { lostUnreported } from './lost-unreported.ts'

interface DirectoryRow {
  readonly case_reference: string
  readonly merchant_id: string
  readonly payment_id: string
}
const OF_CASES = statement<DirectoryRow>('directory_disputes', 'select * from directory_disputes($1)')
const OF_UTRS = statement<Payment>(
  'directory_payments_disputed',
  `select ${payments.columns} from directory_payments($1) p`,
)
const BY_CASE = statement<Dispute>(
  'disputes_by_case',
  `select ${disputes.columns} from disputes d
   where (d.merchant_id, d.case_reference) in (select * from unnest($1::text[], $2::text[]))
   order by d.dispute_id for no key update`,
)
const saveDisputed = payments.updates(['disputePaise'], 'dispute')

/**
 * Records what the bank reports of a dispute (decision Q17): opens it against its payment, or ends it. A repeat changes
 * nothing; a notice that contradicts what is recorded goes to quarantine, and an operator has it carried out
 * again once what stood in its way is gone.
 */
export const receiveDispute = command({
  name: 'receiveDispute',
  isSigned: true,

  prepare({ config, database, newId }) {
    const ofCase = new BatchedLookup<DirectoryRow>(
      (keys) => database.directory(OF_CASES, [keys.map(({ id }) => id)]),
      ({ case_reference }) => ({ tenantId: '', id: case_reference }),
    )
    const ofUtr = new BatchedLookup<Payment>(
      (keys) => database.directory(OF_UTRS, [keys.map(({ id }) => id)]),
      ({ utr }) => ({ tenantId: '', id: utr }),
    )
    return async (args: ReceiveDisputeArgs): Promise<ReceiveDispute> => {
      const report = 'report' in args.read ? args.read.report : undefined
      const known = report && (await ofCase.get('', report.caseReference))
      const payment = !known && report?.utr ? await ofUtr.get('', report.utr) : undefined
      if (report && !known && !payment) requireHere(args)
      const merchantId = known?.merchant_id ?? payment?.merchantId ?? PLATFORM_TENANT
      return {
        ...args,
        report,
        tenantId: merchantId,
        otherTenantId: args.assigns?.noticeTenantId,
        merchantId,
        caseReference: report?.caseReference ?? '',
        paymentId: known?.payment_id ?? payment?.paymentId,
        ids: {
          dispute: newId('dsp'),
          legs: [newId('trf'), newId('trf'), newId('trf')],
          event: newId('evt'),
        },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock,
  decide: (state, command, now) => asStored(state.stored, decide(state, command, now)),

  apply(state, { dispute, changed, payment, command }) {
    const { payments, byCase, balances, merchantOfCase, lostUnreported, waiting } = state
    if (command.assigns) waiting.delete(command.assigns.noticeId)
    if (dispute && command.report?.outcome !== 'OPEN') lostUnreported.delete(dispute.disputeId)
    if (!changed || !dispute || !payment) return
    const { merchantId } = command
    payments.set(payment.paymentId, payment)
    byCase.set(dispute.caseReference, dispute)
    merchantOfCase.set(dispute.caseReference, merchantId)
    const payable = dispute.amountPaise - dispute.advancedPaise
    const isBack = dispute.status === 'WON'
    const move = (kind: 'payable' | 'merchant_advances', amount: bigint) => {
      const id = accountId(kind, merchantId)
      balances.set(id, (balances.get(id) ?? 0n) + (isBack ? amount : -amount))
    }
    if (changed === 'closed' && !isBack) return
    move('payable', payable)
    if (dispute.advancedPaise > 0n) move('merchant_advances', dispute.advancedPaise)
    if (!balances.has(accountId('disputes', merchantId)))
      balances.set(accountId('disputes', merchantId), dispute.amountPaise)
  },

  save(tx, decisions) {
    const changed = decisions.flatMap(({ changed, dispute, ...rest }) =>
      changed && dispute ? [{ ...rest, changed, dispute }] : [],
    )
    const opened = changed.filter(({ changed }) => changed === 'opened')
    const ended = changed.filter(({ changed }) => changed === 'closed')
    saveDisputed(
      tx,
      changed.flatMap(({ payment }) => payment ?? []),
    )
    // Before its end, which may be of the same batch.
    disputes.insert(
      tx,
      opened.map(({ dispute, command: { notice } }) => ({ ...dispute, notice })),
    )
    storeWonNotices(
      tx,
      ended.flatMap(({ dispute, command: { notice } }) =>
        dispute.status === 'WON' ? [{ merchantId: dispute.merchantId, id: dispute.disputeId, notice }] : [],
      ),
    )
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      changed.flatMap(({ changed, command: { ids }, ...ending }) =>
        changed === 'opened' ? openedJournal(ending.dispute, ids.legs) : closedJournals(ending, ids.legs),
      ),
      changed.flatMap(({ opens }) => opens),
    )
    saveClosed(
      tx,
      ended.map(({ dispute }) => dispute),
    )
    saveEvents(
      tx,
      changed.map(({ dispute, command: { ids, timeZone } }) => disputeEvent(dispute, ids.event, timeZone)),
    )
    storeNotices(
      tx,
      decisions.flatMap(({ kept }) => kept ?? []),
    )
    assignNotices(
      tx,
      decisions.flatMap(({ dispute, command: { assigns } }) =>
        assigns && dispute ? [{ ...assigns, paymentId: dispute.paymentId }] : [],
      ),
      decisions[0]!.at,
    )
  },
})

async function lock(tx: BatchTx, commands: readonly ReceiveDispute[]): Promise<ByTenant<State>> {
  const known = commands.flatMap(({ merchantId, paymentId, caseReference }) =>
    paymentId === undefined ? [] : [{ merchantId, paymentId, caseReference }],
  )
  // They travel together; the server takes them in this order: payments before disputes before accounts before notices.
  const [ofPayments, found, cases, balances, lost, waiting, stored] = await Promise.all([
    payments.lockRows<Refundable>(tx, LOCK_PAYMENT, known),
    tx.query(
      BY_CASE,
      columns(
        known,
        ({ merchantId }) => merchantId,
        ({ caseReference }) => caseReference,
      ),
    ),
    tx.query(OF_CASES, [known.map(({ caseReference }) => caseReference)]),
    lockAccounts(
      tx,
      known.flatMap(({ merchantId }) => disputeAccounts(merchantId)),
    ),
    lostUnreported(tx, known),
    lockWaiting(
      tx,
      commands.map(({ assigns }) => assigns),
    ),
    storedNotices(tx, commands, 'dispute'),
  ])
  const byCase = byTenant(
    found,
    ({ merchantId }) => merchantId,
    ({ caseReference }) => caseReference,
    (dispute) => dispute,
  )
  const merchantOfCase = new Map(cases.map((row) => [row.case_reference, row.merchant_id]))
  return new ByTenant((tenantId) => ({
    payments: ofPayments.of(tenantId),
    byCase: byCase.of(tenantId),
    balances: balances.of(tenantId),
    merchantOfCase,
    lostUnreported: lost.of(tenantId),
    stored: stored.of(tenantId),
    waiting,
  }))
}
