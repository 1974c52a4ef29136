import { fail } from '../errors.ts'
import { formatRupees } from '../kernel/money.ts'
import type { Channel } from './card.ts'
import { cardUse, type UseCard } from './card-use.ts'

export interface RefundCard extends UseCard {
  readonly channel: Channel | undefined
}

/** A shop gives money back. A locked, blocked or expired card takes it too: the money is its holder's. */
export const refundCardSpec = cardUse<RefundCard>({
  name: 'refundCard',
  transferKind: 'card_refund',
  eventType: 'card.refunded',
  check({ usage }, { amountPaise }) {
    if (amountPaise > usage.lifePaise)
      fail('refund_over_spent', {
        description: `At most ${formatRupees(usage.lifePaise)} rupees were spent and not refunded yet`,
      })
  },
})
