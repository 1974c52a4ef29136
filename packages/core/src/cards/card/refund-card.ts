import { fail } from '@svc/contract/errors'
import { formatRupees } from '@svc/kernel/money'
import { cardUse } from './card-use.ts'

/** A shop gives money back. Locked, blocked and expired cards accept it too: the money is its holder's. */
export const refundCard = cardUse({
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
