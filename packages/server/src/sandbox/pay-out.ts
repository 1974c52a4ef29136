import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { changePayout } from '@svc/core/payments/change-payout'
import { PayoutRecord, payoutToWire } from '@svc/core/payments/payout'
import { type NotPaidOut, preparePayout } from '@svc/core/payments/prepare-payout'
import { sortableId } from '@svc/kernel/ids'
import { calendarDay } from '@svc/kernel/time'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'

const WHY: Readonly<Record<NotPaidOut, string>> = {
  nothing_due: 'No payment or refund is due',
  carried_forward: 'Refunds and fees exceed payments; they are carried forward',
  no_bank_account: 'The merchant has no bank account: svc admin payout account',
}

const REASON = 'account closed'

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
  mount({ clock, commands, config, random }) {
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
      await change.run(
        { merchantId, payoutId, step: { to: 'APPROVED', by: 'sandbox bank' } },
        audited('payout.approved', payoutId),
      )
      await change.run(
        { merchantId, payoutId, step: { to: 'SENT', runId } },
        audited('payout.sent', payoutId),
      )
      const newUtr = () => `SBX${sortableId(clock.now(), random)}`.toUpperCase()
      const completed = await change.run(
        {
          merchantId,
          payoutId,
          step: outcome === 'FAILED' ? { to: 'FAILED', reason: REASON } : { to: 'PAID', utr: newUtr() },
        },
        audited('payout.completed', payoutId),
      )
      const { payout: last } =
        outcome === 'RETURNED'
          ? await change.run(
              {
                merchantId,
                payoutId,
                step: { to: 'FAILED', reason: REASON, returnUtr: newUtr() },
              },
              audited('payout.returned', payoutId),
            )
          : completed
      return { body: succeed(payoutToWire(last, timeZone)) }
    }
  },
})
