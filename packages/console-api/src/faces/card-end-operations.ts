import { fail } from '@svc/contract/errors'
import { type CardReturn, CardReturnRecord, returnToWire } from '@svc/core/cards/end/card-return'
import { findReturn } from '@svc/core/cards/end/find-card-end'
import { reverseReturn } from '@svc/core/cards/end/return-card'
import { replaceCardContract, returnCardContract } from '@svc/server/cards/card-ends'
import { cardReturn } from '@svc/server/cards/card-returns'
import { operation } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, reasonText } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'
import { CARDS, requireCardPartner } from './card-operations.ts'

const RETURNS = `${CONSOLE_API}/card-returns`
const moving = { permission: 'finance', stepUp: true } as const

export const replaceCardInConsole = onBehalf(
  {
    ...replaceCardContract,
    args: async (input, services) => ({
      ...(await replaceCardContract.args(input, services)),
      actor: 'operator' as const,
    }),
  },
  {
    ...moving,
    id: 'console.replaceCard',
    path: `${CARDS}/:svcCardId/replace`,
    action: 'card.replaced',
    tenantOf: ({ params: { svcCardId } }, { database }) => requireCardPartner(database, svcCardId),
    target: ({ command: { svcCardId } }) => svcCardId,
  },
)

export const returnCardInConsole = onBehalf(returnCardContract, {
  ...moving,
  id: 'console.returnCard',
  path: `${CARDS}/:svcCardId/return`,
  action: 'card.returned',
  tenantOf: ({ params: { svcCardId } }, { database }) => requireCardPartner(database, svcCardId),
  target: ({ returned }) => returned.svcCardId,
})

export const listCardReturns = listOf<CardReturn>(cardReturn, {
  ...consoleOperation,
  id: 'console.listCardReturns',
  path: RETURNS,
  tag: 'Cards',
  summary: 'List balances of ended cards that return to card accounts',
  permission: 'view',
})

export const reverseCardReturn = operation({
  ...consoleOperation,
  ...moving,
  id: 'console.reverseCardReturn',
  method: 'POST',
  path: `${RETURNS}/:returnId/reverse`,
  tag: 'Cards',
  summary: 'Put money on its way back to a card account back on its card',
  description: 'As long as it waits. It is announced again before it is unclaimed.',
  params: idParam('returnId'),
  body: closed({ reason: reasonText('Kept in the books; name no person') }),
  result: CardReturnRecord,
  errors: ['card_not_found', 'return_not_found', 'return_closed'],
  run: reverseReturn,
  args: async ({ body: { reason }, params: { returnId } }, { database }) => {
    const found = (await database.operate((tx) => findReturn(tx, returnId))) ?? fail('return_not_found')
    return { partnerId: found.partnerId, svcCardId: found.svcCardId, returnId, reason }
  },
  audit: ({ partnerId, svcCardId, returnId, reason }, input) =>
    auditOf(partnerId, input, {
      action: 'card.return_reversed',
      target: svcCardId,
      details: { returnId, reason },
    }),
  reply: ({ returned }, { ok, timeZone }) => ok(returnToWire(returned, timeZone)),
})
