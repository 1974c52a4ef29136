import { createHash } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { type ChangePayout, changePayout } from '@svc/core/payments/payouts/change-payout'
import { findPayout } from '@svc/core/payments/payouts/find-payouts'
import { PayoutRecord, payoutToWire } from '@svc/core/payments/payouts/payout'
import { type NotPaidOut, preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { sortableId } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import { calendarDay } from '@svc/kernel/time'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'

const WHY: Readonly<Record<NotPaidOut, string>> = {
  nothing_due: 'No payment or refund is due',
  carried_forward: 'Refunds and fees exceed payments; they are carried forward',
  no_bank_account: 'The merchant has no bank account: svc admin payout account',
  below_minimum: 'Less than the minimum of the schedule is due',
  already_decided: 'The period of the schedule has its payout',
}

const REASON = 'account closed'
/** Who approves the payout that `operator sandbox` prepared. */
const BANK = 'operator sandbox bank'

/** The operators and the bank, simulated: a payout goes through all its steps at once. */
export const payOut = query({
  id: 'sandboxPayOut',
  method: 'POST',
  path: '/sandbox/payouts',
  tag: 'Sandbox',
  summary: 'Pay out what is payable to a merchant',
  description:
    'Plays the operators and the bank: prepares a payout of all payments and refunds until now, approves it and sends it. The bank pays it, or with `outcome` `FAILED` cannot; with `RETURNED` it pays, and the money comes back.',
  auth: 'merchant',
  scope: 'payouts:read',
  envelope: 'response_code',
  sandboxOnly: true,
  mayLackBody: true,
  body: Type.Object(
    {
      outcome: Type.Optional(Type.Enum(['PAID', 'FAILED', 'RETURNED'], { description: '`PAID` by default' })),
    },
    { additionalProperties: false },
  ),
  result: PayoutRecord,
  errors: ['nothing_to_pay_out'],
  mount({ clock, commands, config, database, random }) {
    const [prepare, change] = [commands.open(preparePayout), commands.open(changePayout)]
    return async ({ caller: { tenantId: merchantId }, body: { outcome = 'PAID' } }) => {
      const timeZone = config.BUSINESS_TIME_ZONE
      const audited = (action: string, target: string) => ({
        actor: 'operator sandbox',
        action,
        target,
        tenantId: merchantId,
      })
      const { payout, reason } = await prepare.run(
        {
          merchantId,
          businessDay: calendarDay(new Date(clock.of(merchantId).now()), timeZone),
          preparedBy: 'sandbox',
          requiresSettlement: false,
          isEarly: true,
        },
        audited('payout.prepared', merchantId),
      )
      if (!payout) return fail('nothing_to_pay_out', { description: WHY[reason ?? 'nothing_due'] })
      const { payoutId } = payout
      const runId = newId('pyr', clock.now(), random)
      const take = async (step: ChangePayout['step'], action: string): Promise<void> => {
        await change.run({ merchantId, payoutId, step }, audited(action, payoutId))
      }
      await take({ to: 'APPROVED', by: BANK }, 'payout.approved')
      await take({ to: 'SENT', runId }, 'payout.sent')
      // What the bank says in a file needs no second person.
      const file = createHash('sha256').update(`the bank’s file of ${runId}`).digest('hex')
      const newUtr = () => `SBX${sortableId(clock.now(), random)}`.toUpperCase()
      if (outcome === 'FAILED') await take({ to: 'FAILED', reason: REASON, file }, 'payout.completed')
      else await take({ to: 'PAID', utr: newUtr() }, 'payout.completed')
      if (outcome === 'RETURNED')
        await take({ to: 'FAILED', reason: REASON, returnUtr: newUtr(), file }, 'payout.returned')
      const last = await database.read([merchantId], (tx) => findPayout(tx, payoutId))
      return { body: succeed(payoutToWire(required(last, 'a payout is never deleted'), timeZone)) }
    }
  },
})
