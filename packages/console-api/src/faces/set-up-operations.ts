import { fail } from '@svc/contract/errors'
import { findPartner } from '@svc/core/tenants/partner'
import { statement } from '@svc/platform/db/statement'
import { cardAccount, type ListedAccount } from '@svc/server/cards/card-accounts'
import { query } from '@svc/server/http/operation'
import { findRow } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam, record, text } from '../console-schema.ts'
import { CardAccountRecord, cardAccountToWire } from './card-account-operations.ts'

/** Steps between a new partner and its first card, in their order. */
const STEPS = ['company', 'cardAccount', 'funding', 'card', 'handover'] as const

interface Found {
  readonly companyId: string | null
  readonly companyName: string | null
  readonly cardAccountId: string | null
  readonly svcCardId: string | null
  readonly maskedNumber: string | null
  readonly handedOver: boolean
}

/** The first of everything: what a partner with one company, one account and one card has. */
const FIND = statement<Found>(
  'console_set_up',
  `select co.company_id as "companyId", co.name as "companyName", a.card_account_id as "cardAccountId",
     c.svc_card_id as "svcCardId", c.masked_number as "maskedNumber",
     exists (select from handovers h where h.tenant_id = $1)
       or exists (select from oauth_clients o where o.tenant_id = $1) as "handedOver"
   from (select $1::text as partner_id) p
     left join lateral (select c.* from cards c where c.partner_id = $1
       and c.card_account_id in (select card_account_id from card_accounts where partner_id = $1)
       order by c.svc_card_id limit 1) c on true
     left join lateral (select a.* from card_accounts a where a.partner_id = $1
       and (c.card_account_id is null or a.card_account_id = c.card_account_id)
       order by a.card_account_id limit 1) a on true
     left join lateral (select co.* from companies co where co.partner_id = $1
       and (a.company_id is null or co.company_id = a.company_id) order by co.company_id limit 1) co on true`,
)

/** The first step whose result is missing; `undefined` when the partner can work. */
function nextOf(
  { companyId, svcCardId, handedOver }: Found,
  account: ListedAccount | undefined,
): (typeof STEPS)[number] | undefined {
  if (companyId === null) return 'company'
  if (account === undefined) return 'cardAccount'
  if (svcCardId === null) return account.balancePaise < account.denominationPaise ? 'funding' : 'card'
  return handedOver ? undefined : 'handover'
}

export const showSetUp = query({
  ...consoleOperation,
  id: 'console.showSetUp',
  method: 'GET',
  path: `${CONSOLE_API}/partners/:partnerId/set-up`,
  tag: 'Partners',
  summary: 'Show how far a partner is set up',
  description:
    'From the company to the first card and the credentials: what there is, and which step is next.',
  permission: 'view',
  params: idParam('partnerId'),
  result: record('SetUp', {
    partnerId: text(),
    name: text(),
    product: text('Of its first card account; before that, its first'),
    company: Type.Optional(record('SetUpCompany', { companyId: text(), name: text() })),
    cardAccount: Type.Optional(CardAccountRecord),
    card: Type.Optional(record('SetUpCard', { svcCardId: text(), maskedNumber: text() })),
    handedOver: Type.Boolean({ description: 'Whether it has credentials, or a link that hands some over' }),
    next: Type.Optional(Type.Enum([...STEPS], { description: 'Absent when nothing is missing' })),
  }),
  errors: ['partner_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { partnerId } }) => {
      const { partner, found, account } = await database.operate(async (tx) => {
        const partner = (await findPartner(tx, partnerId)) ?? fail('partner_not_found')
        const found = (await tx.query(FIND, [partnerId]))[0]!
        const account =
          found.cardAccountId === null
            ? undefined
            : await findRow<ListedAccount>(tx, cardAccount, { reader: 'operator' }, found.cardAccountId)
        return { partner, found, account }
      })
      const { companyId, companyName, svcCardId, maskedNumber, handedOver } = found
      return {
        body: JSON.stringify({
          partnerId,
          name: partner.name,
          product: account?.product ?? partner.products[0],
          company: companyId === null ? undefined : { companyId, name: companyName },
          cardAccount: account && cardAccountToWire(account, timeZone),
          card: svcCardId === null ? undefined : { svcCardId, maskedNumber },
          handedOver,
          next: nextOf(found, account),
        }),
      }
    }
  },
})
