import { fail } from '@svc/contract/errors'
import { findCardAccount } from '@svc/core/cards/account/card-account'
import { CardRecord } from '@svc/core/cards/card/card-record'
import { createGiftCard } from '@svc/core/cards/card/create-gift-card'
import { carriedOut } from '@svc/core/ledger/money-command'
import { readGiftCardOrder } from '@svc/server/cards/gift-card-order'
import { createGiftCardOperation } from '@svc/server/cards/issue-cards'
import { operation } from '@svc/server/http/operation'
import { idParam } from '../console-schema.ts'
import { CARD_ISSUED, OrderByOperator } from '../faces/issue-card.ts'
import { memberOperation, PORTAL_API } from './portal-services.ts'

/** An order by a member: not encrypted, since it does not come from the partner's programs. */
export const issueCardAsMember = operation({
  ...memberOperation,
  id: 'portal.issueCard',
  stepUp: true,
  method: 'POST',
  path: `${PORTAL_API}/card-accounts/:cardAccountId/cards`,
  tag: 'Cards',
  summary: 'Issue gift card',
  description:
    'The order that the programs of the partner would send, with the same limits and errors. Company and card account follow from the path. An order with the same `referenceNumber` and content returns the first card.',
  role: 'operator',
  params: idParam('cardAccountId'),
  body: OrderByOperator,
  result: CardRecord,
  errors: createGiftCardOperation.errors,
  run: createGiftCard,
  args: async ({ body, caller: { tenantId }, params: { cardAccountId } }, { database }) => {
    const account = await database.read([tenantId], (tx) => findCardAccount(tx, cardAccountId))
    if (account?.partnerId !== tenantId) return fail('card_account_not_found')
    const order = readGiftCardOrder({ ...body, companyId: account.companyId, cardAccountId })
    return { partnerId: tenantId, order, ciphertextHash: undefined }
  },
  audit: ({ partnerId, order }) => ({
    ...CARD_ISSUED,
    tenantId: partnerId,
    details: { cardAccountId: order.cardAccountId },
  }),
  reply: (outcome) => ({ status: 200, body: JSON.stringify(carriedOut(outcome).record) }),
})
