import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { changePayout, type PayoutStep } from '@svc/core/payments/payouts/change-payout'
import { findPayout, payableMerchants } from '@svc/core/payments/payouts/find-payouts'
import { type PreparedPayout, preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { stepTaker } from '@svc/core/payments/payouts/take-step'
import { formatRupees } from '@svc/kernel/money'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { type Caller, query, type Services } from '@svc/server/http/operation'
import { readBusinessDay } from '@svc/server/payments/payouts'
import { Type } from 'typebox'
import { actorOf, auditOf } from '../as-operator.ts'
import {
  closed,
  consoleOperation,
  exact,
  idParam,
  maybe,
  reasonText,
  record,
  referenceText,
  rupeesText,
  text,
} from '../console-schema.ts'
import { PATH, PayoutState, stateOf, TAG } from './payout-record.ts'

const Day = text('The business day, `YYYY-MM-DD`; it must be over')

export const preparePayoutInConsole = query({
  ...consoleOperation,
  id: 'console.preparePayout',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Prepare the payout to a merchant of a business day',
  description: 'Another operator approves it. A payment or refund is in one payout.',
  permission: 'finance',
  body: closed({ merchantId: text(), businessDay: Day }),
  result: PayoutState,
  errors: ['nothing_to_pay_out', 'business_day_not_over'],
  mount({ commands, config }) {
    const { run } = commands.open(preparePayout)
    return async (input) => {
      const { merchantId } = input.body
      const businessDay = readBusinessDay(input.body.businessDay, 'body')
      const audit = auditOf(merchantId, input, { action: 'payout.prepared', target: merchantId })
      const { payout, reason } = await run(
        { merchantId, businessDay, preparedBy: actorOf(input.caller) },
        audit,
      )
      if (!payout)
        return fail('nothing_to_pay_out', { description: (reason ?? 'nothing_due').replaceAll('_', ' ') })
      return { body: JSON.stringify(stateOf(payout, config.BUSINESS_TIME_ZONE)) }
    }
  },
})

/** Merchants that one call of a run prepares payouts for. */
const RUN_MERCHANTS_MAX = 50

/** One payout, or several where one does not hold all that is due; in the end why nothing more is paid out. */
async function payoutsOf(prepare: () => Promise<PreparedPayout>): Promise<PreparedPayout[]> {
  const prepared = [await prepare()]
  while (prepared.at(-1)?.payout && prepared.at(-1)?.hasMore) prepared.push(await prepare())
  return prepared
}

const ranToWire = (merchantId: string, { payout, reason }: PreparedPayout) =>
  payout
    ? { merchantId, payoutId: payout.payoutId, amount: formatRupees(payout.amountPaise) }
    : { merchantId, reason: reason ?? 'nothing_due' }

export const runPayouts = query({
  ...consoleOperation,
  id: 'console.runPayouts',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/run`,
  tag: TAG,
  summary: 'Prepare the payouts of a business day to all merchants, or to one',
  description: `For at most ${RUN_MERCHANTS_MAX} merchants in one call; pass \`resumeAfter\` back as \`afterMerchantId\` for those that remain. A repeat adds only what has become due since.`,
  permission: 'finance',
  body: closed({
    businessDay: Day,
    merchantId: exact('Only to this merchant'),
    afterMerchantId: exact('The `resumeAfter` of the call before'),
  }),
  result: record('PayoutRun', {
    data: Type.Array(
      record('PayoutOfRun', {
        merchantId: text(),
        payoutId: maybe('Absent where nothing is paid out'),
        amount: Type.Optional(rupeesText),
        reason: Type.Optional(
          Type.Enum(['nothing_due', 'carried_forward', 'no_bank_account'], {
            description: 'Why nothing is paid out',
          }),
        ),
      }),
    ),
    resumeAfter: maybe('Merchants remain; absent when the run is complete'),
  }),
  errors: ['business_day_not_over'],
  mount({ commands, database }) {
    const { run } = commands.open(preparePayout)
    return async (input) => {
      const { afterMerchantId = '', merchantId: only } = input.body
      const businessDay = readBusinessDay(input.body.businessDay, 'body')
      const preparedBy = actorOf(input.caller)
      const payable = only === undefined ? await database.operate((tx) => payableMerchants(tx)) : [only]
      const remain = payable.filter((id) => id > afterMerchantId)
      const wanted = remain.slice(0, RUN_MERCHANTS_MAX)
      const data = await Promise.all(
        wanted.map(async (merchantId) => {
          const audit = auditOf(merchantId, input, { action: 'payout.prepared', target: merchantId })
          const made = await payoutsOf(() => run({ merchantId, businessDay, preparedBy }, audit))
          return made.map((each) => ranToWire(merchantId, each))
        }),
      )
      const resumeAfter = remain.length > wanted.length ? wanted.at(-1) : undefined
      return { body: JSON.stringify({ data: data.flat(), resumeAfter }) }
    }
  },
})

interface Input {
  readonly params: { readonly payoutId: string }
  readonly caller: Caller
  readonly requestId: string
}

/** Takes a step of a payout in the operator's name. */
function stepper({ commands, config, database }: Services) {
  const take = stepTaker(commands)
  return async ({ caller, params: { payoutId }, requestId }: Input, step: PayoutStep) => {
    const payout = (await database.operate((tx) => findPayout(tx, payoutId))) ?? fail('payout_not_found')
    const outcome = await take(payout, step, { actor: actorOf(caller), requestId })
    const { BUSINESS_TIME_ZONE: timeZone } = config
    return wireOrWait(outcome, timeZone, ({ payout: changed }) => stateOf(changed, timeZone))
  }
}

export const approvePayout = query({
  ...consoleOperation,
  id: 'console.approvePayout',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:payoutId/approve`,
  tag: TAG,
  summary: 'Approve a payout that another operator prepared',
  description: 'Who set the bank account that it goes to cannot approve it either.',
  permission: 'finance',
  params: idParam('payoutId'),
  result: PayoutState,
  errors: ['payout_not_found', 'payout_state', 'payout_same_person'],
  mount(services) {
    const take = stepper(services)
    return (input) => take(input, { to: 'APPROVED', by: actorOf(input.caller) })
  },
})

export const cancelPayout = query({
  ...consoleOperation,
  id: 'console.cancelPayout',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:payoutId/cancel`,
  tag: TAG,
  summary: 'Cancel a payout that was not sent',
  description: 'What it was made of is payable again.',
  permission: 'finance',
  params: idParam('payoutId'),
  body: closed({ reason: reasonText() }),
  result: PayoutState,
  errors: ['payout_not_found', 'payout_state'],
  mount(services) {
    const take = stepper(services)
    return (input) => take(input, { to: 'CANCELLED', reason: input.body.reason })
  },
})

export const completePayout = query({
  ...consoleOperation,
  id: 'console.completePayout',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:payoutId/complete`,
  tag: TAG,
  summary: 'Record the bank’s outcome of a payout',
  description:
    'After a failed one what it was made of is payable again, so a second person approves that it failed (202); a paid one fails when its money came back, which `returnUtr` says. A failed one that the bank has paid after all is paid, if what it was made of is in no later payout and still payable; where that was paid again or spent, it stays failed, and what the bank paid is on the account `payout_exceptions` of the merchant.',
  permission: 'finance',
  params: idParam('payoutId'),
  body: closed({
    status: Type.Enum(['PAID', 'FAILED']),
    utr: Type.Optional(referenceText('The bank’s own reference. Required of a paid one')),
    reason: Type.Optional(reasonText('Why it failed. Required then')),
    returnUtr: Type.Optional(
      referenceText('The bank’s own reference of the return. Required of one that was paid and came back'),
    ),
  }),
  result: PayoutState,
  accepted: ApprovalRecord,
  errors: [...changePayout.approval.failures, 'approval_open'],
  mount(services) {
    const take = stepper(services)
    return (input) => {
      const { status, utr, reason, returnUtr } = input.body
      if (status === 'PAID') {
        if (utr === undefined) return failField('utr', 'required', 'is required')
        return take(input, { to: 'PAID', utr: enteredReference(utr, 'utr') })
      }
      if (reason === undefined) return failField('reason', 'required', 'is required')
      return take(input, {
        to: 'FAILED',
        reason,
        returnUtr: returnUtr && enteredReference(returnUtr, 'returnUtr'),
      })
    }
  },
})
