import { fail } from '@svc/contract/errors'
import { findCardAccount } from '@svc/core/cards/account/card-account'
import type { CreateGiftCard, Issued } from '@svc/core/cards/card/card-issuing'
import { CardRecord } from '@svc/core/cards/card/card-record'
import { createGiftCard } from '@svc/core/cards/card/create-gift-card'
import { carriedOut, type WaitingApproval } from '@svc/core/ledger/money-command'
import { findPartner } from '@svc/core/tenants/partner'
import type { CommandAudit } from '@svc/platform/audit'
import type { Database } from '@svc/platform/db/database'
import { DELIVERY_RULE, GiftCardRequest, readGiftCardOrder } from '@svc/server/cards/gift-card-order'
import { createGiftCardOperation } from '@svc/server/cards/issue-cards'
import { operation } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'

/** An order by an operator: company and account follow from the account that is named. */
export const OrderByOperator = Type.Omit(GiftCardRequest, ['companyId', 'cardAccountId'], {
  title: 'OrderByOperator',
  additionalProperties: false,
  ...DELIVERY_RULE,
})
type OrderByOperator = Omit<GiftCardRequest, 'companyId' | 'cardAccountId'>

/** The order as the partner would send it. Throws `card_account_not_found`, and `tenant_disabled` of a disabled partner. */
export async function orderForPartner(
  database: Database,
  cardAccountId: string,
  order: OrderByOperator,
): Promise<CreateGiftCard> {
  const { partnerId, companyId } = await database.operate(async (tx) => {
    const account = (await findCardAccount(tx, cardAccountId)) ?? fail('card_account_not_found')
    if ((await findPartner(tx, account.partnerId))?.disabledAt) fail('tenant_disabled')
    return account
  })
  const request = { ...order, companyId, cardAccountId }
  return { partnerId, order: readGiftCardOrder(request), ciphertextHash: undefined }
}

/** What the audit has of a card that an operator ordered. */
export const CARD_ISSUED: Pick<CommandAudit<Issued | WaitingApproval>, 'action' | 'target'> = {
  action: 'card.issued',
  target: (outcome) => carriedOut(outcome).record.svcCardId,
}

export const issueCardInConsole = operation({
  ...consoleOperation,
  id: 'console.issueCard',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/card-accounts/:cardAccountId/cards`,
  tag: 'Card accounts',
  summary: 'Issue gift card on behalf of the partner',
  description:
    'The order that the partner would send, with the same limits and errors; not encrypted, since it does not come from the partner’s network. Company and card account follow from the path. An order with the same `referenceNumber` and content returns the first card.',
  permission: 'operations',
  params: idParam('cardAccountId'),
  body: OrderByOperator,
  result: CardRecord,
  errors: [...createGiftCardOperation.errors, 'tenant_disabled', 'approval_required'],
  run: createGiftCard,
  args: ({ body, params: { cardAccountId } }, { database }) => orderForPartner(database, cardAccountId, body),
  audit: ({ partnerId, order }, input) =>
    auditOf<Issued | WaitingApproval>(partnerId, input, {
      ...CARD_ISSUED,
      details: { cardAccountId: order.cardAccountId },
    }),
  reply: (outcome) => ({ status: 200, body: JSON.stringify(carriedOut(outcome).record) }),
})
