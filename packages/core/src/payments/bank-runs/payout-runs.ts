import { Failure } from '@svc/contract/errors'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { BankResponse } from '../../bank-files/response-rows.ts'
import { WaitingApproval } from '../../ledger/money-command.ts'
import type { PayoutStep } from '../payouts/change-payout.ts'
import { findPayout } from '../payouts/find-payouts.ts'
import { type Payout, payouts } from '../payouts/payout.ts'
import { stepTaker } from '../payouts/take-step.ts'
import { type BankRunSteps, type BankRuns, type Became, CHUNK, runsOf } from './bank-run.ts'
import { done, left, notNamed, otherAmount, WAITS } from './results.ts'

const WAITING = statement<Payout>(
  'payouts_to_send',
  `select ${payouts.columns} from payouts y where y.status = 'APPROVED' and y.payout_id > $1
   order by y.payout_id limit ${CHUNK}`,
)
const OF_RUN = statement<Payout>(
  'payouts_of_run',
  `select ${payouts.columns} from payouts y where y.run_id = $1 order by y.payout_id`,
)
const RUNS = runsOf('payout', 'payouts')

export const PAYOUT_RUNS: BankRuns<Payout> = {
  name: 'payout',
  waiting: 'approved',
  runIdPrefix: 'pyr',
  fields: {
    payoutId: { of: ({ payoutId }) => payoutId },
    amount: { of: ({ amountPaise }) => formatRupees(amountPaise) },
    accountNumber: { of: ({ accountNumber }) => accountNumber },
    ifsc: { of: ({ ifsc }) => ifsc },
    // Letters, digits and spaces: no spreadsheet takes a name for a formula.
    accountHolder: {
      of: ({ accountHolder }) =>
        accountHolder.replace(/[^\p{L}\p{M}\p{N} .&'-]/gu, ' ').replace(/^[^\p{L}\p{N}]+/u, ''),
    },
  },
  idOf: ({ payoutId }) => payoutId,
  amountOf: ({ amountPaise }) => amountPaise as Paise,
  listWaiting: (tx, afterId) => tx.query(WAITING, [afterId]),
  ofRun: (tx, runId) => tx.query(OF_RUN, [runId]),
  runs: (tx, limit) => tx.query(RUNS, [limit]),
  outcomes: {
    paid: ['done', 'PAID'],
    failed: ['failed', 'FAILED,REJECTED'],
    returned: ['returned', 'RETURNED'],
  },

  async preview(database, response) {
    const found = await findStep(database, response)
    if ('result' in found) return found
    const { payout, step } = found
    return done(payout.status === step.to ? step.to : `would be ${step.to}; it is ${payout.status}`)
  },
}

export const PAYOUT_STEPS: BankRunSteps<Payout> = {
  sendOne: (commands, payout, runId, by) =>
    stepTaker(commands)(payout, { to: 'SENT', runId }, by).catch((error: unknown) => {
      if (!(error instanceof Failure && error.code === 'payout_state')) throw error
    }),

  async record({ commands, database }, response, { file, ...by }) {
    const found = await findStep(database, response)
    if ('result' in found) return found
    const { payout, step: stated } = found
    // A file of the bank needs a second person above the limit only.
    const step = stated.to === 'FAILED' ? { ...stated, file } : stated
    const changed = await stepTaker(commands)(payout, step, by)
    if (changed instanceof WaitingApproval) return WAITS
    const { merchantId, paidLateAt, status } = changed.payout
    if (step.to === 'PAID' && paidLateAt !== null)
      return left(
        `FAILED before, and its money was paid again or spent: an exception on payout_exceptions:${merchantId}`,
      )
    // An older report that it was paid, of one that came back since, changes nothing and is true.
    return status === 'PAID' || status === 'FAILED' ? done(status) : left(status)
  },
}

/** What the bank says, as a step of the payout. */
function stepOf({ outcome, utr, reason, word }: BankResponse): PayoutStep | undefined {
  if (outcome === undefined) return undefined
  if (outcome === 'done') return utr === undefined ? undefined : { to: 'PAID', utr }
  const failed = { to: 'FAILED', reason: reason ?? word } as const
  // A return without a reference is one of a payout that the bank never reported as paid.
  return outcome === 'returned' ? { ...failed, returnUtr: utr } : failed
}

/** The payout and its step, or why there is none. */
async function findStep(
  database: Database,
  response: BankResponse,
): Promise<{ readonly payout: Payout; readonly step: PayoutStep } | Became> {
  const step = stepOf(response)
  if (!step) return notNamed(response, PAYOUT_RUNS)
  const payout = await database.operate((tx) => findPayout(tx, response.id))
  if (!payout) return left('no such payout')
  return otherAmount(response, payout.amountPaise) ?? { payout, step }
}
