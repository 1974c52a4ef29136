import { type Card, cards, looksLikeCardId } from '@svc/core/cards/card/card'
import { CARD_STATUS_LABELS } from '@svc/core/cards/card/card-states'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { Filters } from '../http/list.ts'
import {
  choiceFilter,
  createdFilters,
  exactFilter,
  type Filter,
  idFilter,
  type Resource,
} from '../http/resource.ts'
import { whoIs } from '../tenants/users.ts'

/** A card with the name of its company and what is on it. */
export type ListedCard = Card & { readonly companyName: string; readonly balancePaise: Paise }

type Given = Readonly<Record<string, unknown>>

const isOfHolder = ({ q, userId }: Given): boolean => (q ?? userId) !== undefined

/** Account by account, as the index has them: so the newest of a partner are found without reading all of them. */
const ofOwner = (description: string, column: string, ofAccount: string): Filter => ({
  schema: idFilter(description),
  sql(filters, value, given) {
    if (isOfHolder(given)) return void filters.add(`${column} = ?`, value)
    const condition = ofAccount.replaceAll('?', filters.param(value))
    const from = filters.parts?.from.replace(/\) a$/, ` and ${condition}) a`)
    filters.parts = {
      from: from ?? `from (select * from card_accounts a where ${condition}) a`,
      link: 'c.partner_id = a.partner_id and c.company_id = a.company_id and c.card_account_id = a.card_account_id',
    }
  },
})

/** Holder by holder: each holds few cards. */
function ofHolder(filters: Filters, q: string, reveals: boolean): void {
  const users = new Filters()
  whoIs(users, 'u', q, reveals)
  const condition = users.conditions[0]!.replace('$1', filters.param(users.values[0]))
  filters.parts = {
    from: `from (select u.user_id from users u where ${condition} limit 1000) holders`,
    link: 'c.user_id = holders.user_id',
  }
}

const rupees = Type.String({ description: 'Rupees with two decimals, such as `2495.00`' })

/** Cards, as operators and members find them; programs search those of an account (decision S1). */
export const card = {
  titles: { operator: 'CardRow' },
  looksLikeId: looksLikeCardId,
  from: {
    columns: `${cards.columns}, co.name as "companyName", l.balance as "balancePaise"`,
    table: 'cards c',
    alias: 'c',
    joins: `join companies co on co.company_id = c.company_id
      join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id`,
  },
  tenant: 'c.partner_id',
  keys: [{ sql: 'c.svc_card_id', type: 'text' }],
  fields: {
    svcCardId: { schema: Type.String(), of: ({ svcCardId }) => svcCardId },
    maskedNumber: { schema: Type.String(), of: ({ maskedNumber }) => maskedNumber },
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId, operatorOnly: true },
    companyId: { schema: Type.String(), of: ({ companyId }) => companyId },
    companyName: { schema: Type.String(), of: ({ companyName }) => companyName },
    cardAccountId: { schema: Type.String(), of: ({ cardAccountId }) => cardAccountId },
    userId: { schema: Type.String(), of: ({ userId }) => userId },
    holderName: {
      schema: Type.Optional(Type.String({ 'x-personal': 'name' })),
      of: ({ holder: { firstName, lastName } }) =>
        [firstName, lastName].filter(Boolean).join(' ') || undefined,
    },
    status: { schema: Type.Enum(Object.keys(CARD_STATUS_LABELS)), of: ({ status }) => status },
    physical: { schema: Type.Boolean(), of: ({ physical }) => physical },
    load: { schema: rupees, of: ({ loadPaise }) => formatRupees(loadPaise) },
    balance: { schema: rupees, of: ({ balancePaise }) => formatRupees(balancePaise) },
    expires: {
      schema: Type.String({ description: '`MM/YYYY`' }),
      of: ({ expiryMonth, expiryYear }) => `${String(expiryMonth).padStart(2, '0')}/${expiryYear}`,
    },
    createdOn: {
      schema: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
      of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone),
    },
  },
  filters: {
    q: {
      schema: exactFilter(
        'Id of the card or of its holder, last four digits, or the holder’s whole mobile number or e-mail address',
        254,
      ),
      sql(filters, q, _, { reveals = false }) {
        if (q.startsWith('card_')) filters.add('c.svc_card_id = ?', q)
        else if (/^\d{4}$/.test(q)) filters.add('right(c.masked_number, 4) = ?', q)
        else ofHolder(filters, q, reveals)
      },
    },
    partnerId: { ...ofOwner('Of this partner', 'c.partner_id', 'a.partner_id = ?'), operatorOnly: true },
    companyId: ofOwner(
      'Of this company',
      'c.company_id',
      // The index of accounts by company begins with the partner.
      'a.company_id = ? and a.partner_id = (select partner_id from companies where company_id = ?)',
    ),
    cardAccountId: ofOwner('Of this card account', 'c.card_account_id', 'a.card_account_id = ?'),
    userId: { schema: idFilter('Of this user'), sql: 'c.user_id = ?' },
    status: { schema: choiceFilter(Object.keys(CARD_STATUS_LABELS), 'Only these'), sql: 'c.status = ?' },
    ...createdFilters('card', 'c.svc_card_id', 'c.created_at'),
  },
} satisfies Resource<ListedCard>
