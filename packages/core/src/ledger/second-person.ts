import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

type Problem = 'same_person' | 'armed_by_requester' | 'armed_requester'

const PROBLEMS = statement<{ requester: string; problem: Problem }>(
  'second_person_problems',
  `select w.requester, second_person_problem(w.requester, $2) as problem from unnest($1::text[]) as w (requester)
   where second_person_problem(w.requester, $2) is not null`,
)

const MAY_ACT = statement<{ may: boolean }>('may_act', 'select may_act($1, $2) as may')

/**
 * Whether who requested something, as the audit names them, may do so by now: an operator who was disabled meanwhile, or has
 * lost the right, requests nothing any more.
 */
export const mayStill = async (
  tx: Pick<Tx, 'query'>,
  requestedBy: string,
  permission: 'finance' | 'operations' | 'administer',
): Promise<boolean> => (await tx.query(MAY_ACT, [requestedBy, permission]))[0]!.may

/** Throws `approval_closed`. */
export async function requireStill(...asked: Parameters<typeof mayStill>): Promise<void> {
  if (!(await mayStill(...asked)))
    fail('approval_closed', { description: `${asked[1]} may not do this any more: request it again` })
}

/** Why an operator is no second person, in words; `requester` as the audit names them. */
export interface NoSecondPerson {
  readonly requester: string
  readonly isSame: boolean
  readonly description: string
}

/**
 * Who is not the second person for what `requesters` did, and why (decision R10): a requester, whom a requester created,
 * invited, promoted or reset within `APPROVER_COOLING_DAYS`, and who did that to a requester. `undefined`: it is another
 * person. All are named as in the audit. The database checks approvals and payouts by the same function.
 */
export async function secondPersonProblem(
  tx: Pick<Tx, 'query'>,
  requesters: readonly string[],
  by: string,
): Promise<NoSecondPerson | undefined> {
  const [found] = await tx.query(PROBLEMS, [requesters, by])
  if (!found) return undefined
  const { problem, requester } = found
  const [who, whom] = problem === 'armed_by_requester' ? [requester, by] : [by, requester]
  return {
    requester,
    isSame: problem === 'same_person',
    description:
      problem === 'same_person'
        ? `${by} did the first step: another person approves it`
        : `${who} created, invited, promoted or reset ${whom} within APPROVER_COOLING_DAYS: a third person approves it`,
  }
}
