import { receiptToWire } from '@svc/core/cards/card/card-use'
import { refundCard } from '@svc/core/cards/card/refund-card'
import { spendCard } from '@svc/core/cards/card/spend-card'
import {
  RefundRequest,
  readRefund,
  readSpend,
  refundAtTerminal,
  SpendRequest,
  spendAtTerminal,
} from '@svc/server/sandbox/card-terminal'
import { consoleOperation, idParam } from '../console-schema.ts'
import { keyedQuery, onceOnBehalf } from '../once.ts'
import { CARDS, requireCardPartner } from './card-operations.ts'

const TAG = 'Cards'
const SPEND = `${CARDS}/:svcCardId/spend`
const REFUND = `${CARDS}/:svcCardId/refund`
const params = idParam('svcCardId')

export const spendFromCard = keyedQuery({
  ...consoleOperation,
  id: 'console.spendFromCard',
  method: 'POST',
  path: SPEND,
  tag: TAG,
  summary: 'Spend from card (sandbox)',
  permission: 'support',
  sandboxOnly: true,
  params,
  body: SpendRequest,
  result: spendAtTerminal.result,
  errors: spendAtTerminal.errors,
  mount(services) {
    const { respond } = services.commands.open(spendCard)
    return async (input) => {
      const { svcCardId } = input.params
      const tenantId = await requireCardPartner(services.database, svcCardId)
      return respond(readSpend(svcCardId, input.body), {
        reply: (used) => ({ status: 200, body: JSON.stringify(receiptToWire(used)) }),
        ...onceOnBehalf(tenantId, { method: 'POST', path: SPEND }, input, {
          action: 'sandbox.spent',
          target: svcCardId,
        }),
      })
    }
  },
})

export const refundToCard = keyedQuery({
  ...consoleOperation,
  id: 'console.refundToCard',
  method: 'POST',
  path: REFUND,
  tag: TAG,
  summary: 'Refund to card (sandbox)',
  permission: 'support',
  sandboxOnly: true,
  params,
  body: RefundRequest,
  result: refundAtTerminal.result,
  errors: refundAtTerminal.errors,
  mount(services) {
    const { respond } = services.commands.open(refundCard)
    return async (input) => {
      const { svcCardId } = input.params
      const tenantId = await requireCardPartner(services.database, svcCardId)
      return respond(readRefund(svcCardId, input.body), {
        reply: (used) => ({ status: 200, body: JSON.stringify(receiptToWire(used)) }),
        ...onceOnBehalf(tenantId, { method: 'POST', path: REFUND }, input, {
          action: 'sandbox.refunded',
          target: svcCardId,
        }),
      })
    }
  },
})
