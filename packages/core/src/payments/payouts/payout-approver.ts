import { fail } from '@svc/contract/errors'
import type { ByTenant } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { mayStill, type NoSecondPerson, secondPersonProblem } from '../../ledger/second-person.ts'
import type { Payout } from './payout.ts'

const IS_SCHEDULED = statement<{ scheduled: boolean }>(
  'payout_is_scheduled',
  'select is_scheduled($1, $2) as scheduled',
)

/**
 * One person alone does not send money away: neither who prepared it nor who set its bank account approves it. What a schedule
 * prepared is approved whatever became of who set the schedule.
 */
export async function approverProblem(
  tx: BatchTx,
  known: ByTenant<ReadonlyMap<string, Payout>>,
  { merchantId, payoutId }: Pick<Payout, 'merchantId' | 'payoutId'>,
  by: string | undefined,
): Promise<NoSecondPerson | undefined> {
  const payout = known.of(merchantId).get(payoutId)
  if (by === undefined || !payout) return undefined
  const { accountSetBy, preparedBy } = payout
  const problem = await secondPersonProblem(
    tx,
    [preparedBy, ...(accountSetBy === null ? [] : [accountSetBy])],
    by,
  )
  if (problem || (await mayStill(tx, preparedBy, 'finance'))) return problem
  if ((await tx.query(IS_SCHEDULED, [merchantId, payoutId]))[0]!.scheduled) return undefined
  const description = `${preparedBy} may not do this any more: cancel the payout and prepare it again`
  return { requester: preparedBy, isSame: false, description }
}

/** Throws `payout_same_person`. */
export function requireSecondPerson({ preparedBy }: Payout, problem: NoSecondPerson | undefined): void {
  if (!problem) return
  if (!problem.isSame) fail('payout_same_person', { description: problem.description })
  if (problem.requester === preparedBy) fail('payout_same_person')
  fail('payout_same_person', {
    description: 'You set the bank account that this payout goes to: another person approves it',
  })
}
