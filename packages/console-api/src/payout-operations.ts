import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { changePayout, type PayoutStep } from '@svc/core/qr-codes/change-payout'
import { findPayout } from '@svc/core/qr-codes/find-payouts'
import { PAYOUT_STATUSES, type Payout, PayoutRecord, payouts, payoutToWire } from '@svc/core/qr-codes/payout'
import { preparePayout } from '@svc/core/qr-codes/prepare-payout'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { isDay } from '@svc/kernel/time'
import { type Caller, query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, auditOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { Filters, type ListPlan, readList } from './list.ts'

const TAG = 'Payouts'
const PATH = `${CONSOLE_API}/payouts`
const PayoutRow = record('PayoutRow', {
  payout: PayoutRecord,
  merchantId: text(),
  preparedBy: text('Who may not approve it'),
  approvedBy: Type.Optional(text()),
})

const rowOf = (payout: Payout, timeZone: string) => ({
  payout: payoutToWire(payout, timeZone),
  merchantId: payout.merchantId,
  preparedBy: payout.preparedBy,
  approvedBy: payout.approvedBy ?? undefined,
})

export const listPayoutsInConsole = query({
  ...consoleOperation,
  id: 'console.listPayouts',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List payouts to all merchants',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id of the payout, or the bank’s reference', 64),
    merchantId: exact('To this merchant'),
    status: oneOf([...PAYOUT_STATUSES], 'Only these'),
  }),
  result: listOf(PayoutRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, merchantId, status, sort } = query
      const filters = new Filters().add('y.merchant_id = ?', merchantId).add('y.status = ?', status)
      if (q !== undefined)
        filters.add(
          q.startsWith('pyo_') ? 'y.payout_id = ?' : 'y.utr = ?',
          q.startsWith('pyo_') ? q : canonicalReference(q),
        )
      const plan: ListPlan = {
        columns: payouts.columns,
        table: 'payouts y',
        alias: 'y',
        filters,
        keys: [{ sql: 'y.payout_id', type: 'text' }],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: Payout) => rowOf(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const preparePayoutInConsole = query({
  ...consoleOperation,
  id: 'console.preparePayout',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Prepare the payout to a merchant of a business day',
  description: 'Another operator approves it. A payment or refund is in one payout.',
  role: 'operator',
  body: closed({ merchantId: text(), businessDay: text('`YYYY-MM-DD`; it must be over') }),
  result: PayoutRow,
  errors: ['nothing_to_pay_out', 'business_day_not_over'],
  mount({ commands, config }) {
    const { run } = commands.open(preparePayout)
    return async (input) => {
      const { merchantId, businessDay } = input.body
      if (!isDay(businessDay)) failField('businessDay', 'format', 'must be a day, such as 2026-04-01')
      const audit = auditOf(merchantId, input, { action: 'payout.prepared', target: merchantId })
      const { payout, reason } = await run(
        { merchantId, businessDay, preparedBy: actorOf(input.caller) },
        audit,
      )
      if (!payout)
        return fail('nothing_to_pay_out', { description: (reason ?? 'nothing_due').replaceAll('_', ' ') })
      return { body: JSON.stringify(rowOf(payout, config.BUSINESS_TIME_ZONE)) }
    }
  },
})

interface Input {
  readonly params: { readonly payoutId: string }
  readonly caller: Caller
  readonly requestId: string
}

/** Takes a step of a payout in the operator's name. */
const stepper = ({ commands, config, database }: Services) => {
  const { run } = commands.open(changePayout)
  return async (input: Input, step: PayoutStep) => {
    const { payoutId } = input.params
    const { merchantId } =
      (await database.operate((tx) => findPayout(tx, payoutId))) ?? fail('payout_not_found')
    const action = `payout.${step.to.toLowerCase()}`
    const audit = auditOf(merchantId, input, { action, target: payoutId })
    const { payout } = await run({ merchantId, payoutId, step }, audit)
    return { body: JSON.stringify(rowOf(payout, config.BUSINESS_TIME_ZONE)) }
  }
}

export const approvePayout = query({
  ...consoleOperation,
  id: 'console.approvePayout',
  method: 'POST',
  path: `${PATH}/:payoutId/approve`,
  tag: TAG,
  summary: 'Approve a payout that another operator prepared',
  role: 'operator',
  params: idParam('payoutId'),
  result: PayoutRow,
  errors: ['payout_not_found', 'payout_state', 'payout_same_person'],
  mount(services) {
    const take = stepper(services)
    return (input) => take(input, { to: 'APPROVED', by: actorOf(input.caller) })
  },
})

export const cancelPayout = query({
  ...consoleOperation,
  id: 'console.cancelPayout',
  method: 'POST',
  path: `${PATH}/:payoutId/cancel`,
  tag: TAG,
  summary: 'Cancel a payout that was not sent',
  description: 'What it was made of is payable again.',
  role: 'operator',
  params: idParam('payoutId'),
  body: closed({ reason: Type.String({ minLength: 1, maxLength: 255 }) }),
  result: PayoutRow,
  errors: ['payout_not_found', 'payout_state'],
  mount(services) {
    const take = stepper(services)
    return (input) => take(input, { to: 'CANCELLED', reason: input.body.reason })
  },
})

export const completePayout = query({
  ...consoleOperation,
  id: 'console.completePayout',
  method: 'POST',
  path: `${PATH}/:payoutId/complete`,
  tag: TAG,
  summary: 'Record the bank’s outcome of a payout',
  description: 'After a failed one what it was made of is payable again.',
  role: 'operator',
  params: idParam('payoutId'),
  body: closed({
    status: Type.Enum(['PAID', 'FAILED']),
    utr: Type.Optional(
      Type.String({
        minLength: 6,
        maxLength: 64,
        description: 'The bank’s own reference; required of a paid one',
      }),
    ),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Why it failed; required then' }),
    ),
  }),
  result: PayoutRow,
  errors: ['payout_not_found', 'payout_state', 'utr_conflict'],
  mount(services) {
    const take = stepper(services)
    return (input) => {
      const { status, utr, reason } = input.body
      if (status === 'PAID') {
        if (utr === undefined) return failField('utr', 'required', 'is required')
        return take(input, { to: 'PAID', utr: canonicalReference(utr) })
      }
      if (reason === undefined) return failField('reason', 'required', 'is required')
      return take(input, { to: 'FAILED', reason })
    }
  },
})
