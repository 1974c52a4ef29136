import { fail } from '@svc/contract/errors'
import {
  type CardTransaction,
  CardTransactionRecord,
  cardTransactionToWire,
  STATUS_OF_TRANSACTION,
  TRANSACTION_KINDS,
  TRANSACTION_STATUSES,
  TRANSACTIONS,
} from '@svc/core/cards/card/card-transaction'
import { isCardOf } from '@svc/core/cards/card/find-card-partner'
import { NETWORK_CHANNELS } from '@svc/core/cards/rail/card-message'
import { Type } from 'typebox'
import { amountFilters, ofFew } from '../http/amount-filters.ts'
import { Instant, readInstant } from '../http/fields.ts'
import { listWithCsv } from '../http/list-csv.ts'
import { PARTNER_ID } from '../http/operation.ts'
import { choiceFilter, exactFilter, type Filter, idFilter, type Resource } from '../http/resource.ts'
import { CardParams } from './get-card.ts'

/** What leads to few rows, or to a range of an index; none leads to amounts or merchants of all partners. */
const BOUNDS = ['svcCardId', 'cardAccountId', 'companyId', 'partnerId', 'createdFrom']

const sinceFilter = (name: string, comparison: '>=' | '<', description: string): Filter => ({
  schema: Type.Optional(Instant(description)),
  sql: (filters, text) => filters.add(`t.created_at ${comparison} ?`, readInstant(name, text)),
})

/** Transactions of cards, as every reader sees and finds them (decision C25). */
export const cardTransaction = {
  titles: { tenant: 'CardTransaction', operator: 'CardTransactionRow' },
  record: { schema: CardTransactionRecord, toWire: cardTransactionToWire },
  from: TRANSACTIONS,
  tenant: 't.partner_id',
  keys: [
    { sql: 't.created_at', type: 'timestamptz' },
    { sql: 't.transaction_id', type: 'text' },
  ],
  fields: {
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId, operatorOnly: true },
  },
  filters: {
    partnerId: { schema: idFilter('Of this partner'), sql: 't.partner_id = ?', operatorOnly: true },
    svcCardId: { schema: idFilter('Of this card'), sql: 't.svc_card_id = ?' },
    cardAccountId: {
      schema: idFilter('Of cards that this card account funded'),
      sql: 't.card_account_id = ?',
    },
    companyId: { schema: idFilter('Of cards of this company'), sql: 't.company_id = ?' },
    merchantName: {
      schema: exactFilter('The whole name of the merchant, in any case', 255),
      sql: ofFew(BOUNDS, 'merchantName', (filters, name) =>
        filters.add('t.merchant_key = lower(?::text collate "C")', name),
      ),
    },
    channel: { schema: choiceFilter(NETWORK_CHANNELS), sql: 't.channel = ?' },
    kind: { schema: choiceFilter(TRANSACTION_KINDS), sql: 't.kind = ?' },
    status: { schema: choiceFilter(TRANSACTION_STATUSES), sql: `${STATUS_OF_TRANSACTION} = ?` },
    ...amountFilters('t.amount_paise', BOUNDS),
    createdFrom: sinceFilter('createdFrom', '>=', 'Recorded at this instant or later'),
    createdTo: sinceFilter('createdTo', '<', 'Recorded before this instant'),
  },
} satisfies Resource<CardTransaction>

const list = { tag: 'Cards', scope: 'cards:read', envelope: 'code' } as const

/** Not in the specification (decision C25). */
export const listCardTransactions = listWithCsv<CardTransaction>(cardTransaction, {
  ...list,
  id: 'listCardTransactions',
  auth: 'partnerWithId',
  headers: { partnerId: PARTNER_ID },
  path: '/api/v0/partner/svcCard/:svcCardId/transactions',
  summary: 'List transactions of card',
  description:
    'Authorisations with what became of them, and every movement of money with the balance after it. Newest first; pass `next` back as `after` for the next page.',
  params: CardParams,
  errors: ['card_not_found'],
  async within(tx, { tenantId }, { svcCardId = '' }) {
    if (tenantId === undefined || !(await isCardOf(tx, tenantId, svcCardId))) fail('card_not_found')
  },
})

/** Not in the specification (decision C25). */
export const findCardTransactions = listWithCsv<CardTransaction>(cardTransaction, {
  ...list,
  id: 'findCardTransactions',
  auth: 'partner',
  path: '/api/v0/partner/card-transactions',
  summary: 'List transactions of cards',
  description:
    'Of all cards. All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page.',
})
