import { fail } from '@svc/contract/errors'
import { type Card, cards } from '@svc/core/cards/card'
import { CardRecord, toCardRecord } from '@svc/core/cards/card-record'
import { CARD_STATUS_LABELS, cardMoves, kycMoves } from '@svc/core/cards/card-states'
import { readCardViews } from '@svc/core/cards/card-view'
import { cardPartnerLookup } from '@svc/core/cards/find-card-partner'
import { accountId } from '@svc/core/ledger/accounts'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { CardChangeRecord, newestChanges } from '@svc/server/cards/list-card-changes'
import { readInstant } from '@svc/server/http/fields'
import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { type Caller, query, type Services } from '@svc/server/http/operation'
import { whoIs } from '@svc/server/tenants/users'
import { Type } from 'typebox'
import {
  BY_TIME,
  CONSOLE_API,
  consoleOperation,
  createdRange,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  oneOf,
  personal,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { newestTransfers, TransferRecord } from './ledger-operations.ts'
import { mayReveal } from './reveals.ts'

const TAG = 'Cards'
export const CARDS = `${CONSOLE_API}/cards`
const params = idParam('svcCardId')

const CardRow = record('CardRow', {
  svcCardId: text(),
  maskedNumber: text(),
  partnerId: text(),
  companyId: text(),
  companyName: text(),
  cardAccountId: text(),
  userId: text(),
  holderName: personal('name'),
  status: Type.Enum(Object.keys(CARD_STATUS_LABELS)),
  physical: Type.Boolean(),
  load: rupeesText,
  balance: rupeesText,
  expires: text('`MM/YYYY`'),
  createdOn: instant,
})

type ListedCard = Card & { readonly companyName: string; readonly balancePaise: Paise }

const toWire = (card: ListedCard, timeZone: string) => ({
  svcCardId: card.svcCardId,
  maskedNumber: card.maskedNumber,
  partnerId: card.partnerId,
  companyId: card.companyId,
  companyName: card.companyName,
  cardAccountId: card.cardAccountId,
  userId: card.userId,
  holderName: [card.holder.firstName, card.holder.lastName].filter(Boolean).join(' ') || undefined,
  status: card.status,
  physical: card.physical,
  load: formatRupees(card.loadPaise),
  balance: formatRupees(card.balancePaise),
  expires: `${String(card.expiryMonth).padStart(2, '0')}/${card.expiryYear}`,
  createdOn: rfc3339(card.createdAt, timeZone),
})

const SHOWN = 100

type CardQueryName = 'q' | 'partnerId' | 'companyId' | 'cardAccountId' | 'userId' | 'status' | 'sort'
type CardQuery = Readonly<Partial<Record<CardQueryName | 'createdFrom' | 'createdTo', string | undefined>>>

/** Holder by holder: each holds few cards. */
function holdersFrom(filters: Filters, q: string, caller: Caller): string {
  const users = new Filters()
  whoIs(users, 'u', q, mayReveal(caller))
  const condition = users.conditions[0]!.replace('$1', filters.param(users.values[0]))
  return `from (select u.user_id from users u where ${condition} limit 1000) holders`
}

function planOf(cardQuery: CardQuery, caller: Caller): ListPlan {
  const { q, partnerId, companyId, cardAccountId, userId, status, createdFrom, createdTo, sort } = cardQuery
  const filters = new Filters()
    .add('c.user_id = ?', userId)
    .add('c.status = ?', status)
    .created(
      'c.svc_card_id',
      'card',
      readInstant('createdFrom', createdFrom),
      readInstant('createdTo', createdTo),
    )
  if (q?.startsWith('card_')) filters.add('c.svc_card_id = ?', q)
  const plan = {
    columns: `${cards.columns}, co.name as "companyName", l.balance as "balancePaise"`,
    table: 'cards c',
    alias: 'c',
    joins: `join companies co on co.company_id = c.company_id
      join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id`,
    filters,
    keys: [{ sql: 'c.svc_card_id', type: 'text' } as const],
    descending: sort !== 'created',
  }
  if (q !== undefined && !q.startsWith('card_')) {
    const from = holdersFrom(filters, q, caller)
    addOwners(filters, partnerId, companyId, cardAccountId)
    return { ...plan, parts: { from, link: 'c.user_id = holders.user_id' } }
  }
  if (userId !== undefined || q !== undefined || (partnerId ?? companyId ?? cardAccountId) === undefined) {
    addOwners(filters, partnerId, companyId, cardAccountId)
    return plan
  }
  // Account by account, as the index has them: so the newest of a partner are found without reading all of them.
  const where = [
    ['a.partner_id = ?', partnerId],
    // The index of accounts by company begins with the partner.
    [
      'a.company_id = ? and a.partner_id = (select partner_id from companies where company_id = ?)',
      companyId,
    ],
    ['a.card_account_id = ?', cardAccountId],
  ].flatMap(([condition, value]) =>
    value === undefined ? [] : [condition!.replaceAll('?', filters.param(value))],
  )
  return {
    ...plan,
    parts: {
      from: `from (select * from card_accounts a where ${where.join(' and ')}) a`,
      link: 'c.partner_id = a.partner_id and c.company_id = a.company_id and c.card_account_id = a.card_account_id',
    },
  }
}

function addOwners(
  filters: Filters,
  partnerId: string | undefined,
  companyId: string | undefined,
  cardAccountId: string | undefined,
): void {
  filters
    .add('c.partner_id = ?', partnerId)
    .add('c.company_id = ?', companyId)
    .add('c.card_account_id = ?', cardAccountId)
}

export const partnerOf = ({ database }: Pick<Services, 'database'>) => {
  const find = cardPartnerLookup(database)
  return async (svcCardId: string): Promise<string> => (await find(svcCardId)) ?? fail('card_not_found')
}

export const listCards = query({
  ...consoleOperation,
  id: 'console.listCards',
  method: 'GET',
  path: CARDS,
  tag: TAG,
  summary: 'List cards of all partners',
  permission: 'view',
  query: listQuery(BY_TIME, {
    q: exact('Id of the card or of its holder, or the holder’s whole mobile number or e-mail address', 254),
    partnerId: exact('Of this partner'),
    companyId: exact('Of this company'),
    cardAccountId: exact('Of this card account'),
    userId: exact('Of this user'),
    status: oneOf(Object.keys(CARD_STATUS_LABELS), 'Only these'),
    ...createdRange,
  }),
  result: listOf(CardRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ caller, query }) => {
      const plan = planOf(query, caller)
      const page = await database.report((tx) =>
        readList(tx, plan, query, (row: ListedCard) => toWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showCard = query({
  ...consoleOperation,
  id: 'console.showCard',
  method: 'GET',
  path: `${CARDS}/:svcCardId`,
  tag: TAG,
  summary: 'Show card: record, history, ledger entries',
  permission: 'view',
  params,
  result: record('CardDetail', {
    partnerId: text(),
    card: CardRecord,
    createdOn: instant,
    balance: rupeesText,
    moves: Type.Array(text(), { description: 'Statuses that it may be given now' }),
    kycMoves: Type.Array(text(), { description: 'States that its KYC may be moved to now' }),
    changes: Type.Array(CardChangeRecord, { description: 'The newest 100, newest first' }),
    ledgerAccountId: text(),
    transfers: Type.Array(TransferRecord, { description: 'The newest 100, newest first' }),
  }),
  errors: ['card_not_found'],
  mount(services) {
    const { clock, config, database } = services
    const timeZone = config.BUSINESS_TIME_ZONE
    const find = partnerOf(services)
    return async ({ params: { svcCardId } }) => {
      const [partnerId, ledgerAccountId] = [await find(svcCardId), accountId('card', svcCardId)]
      const detail = await database.operate(async (tx) => {
        const wanted = { partnerId, svcCardId, at: new Date(clock.of(partnerId).now()) }
        const [view] = await readCardViews(tx, [wanted], timeZone)
        const { card, balancePaise } = view ?? fail('card_not_found')
        return {
          partnerId,
          card: toCardRecord(view!, timeZone),
          createdOn: rfc3339(card.createdAt, timeZone),
          balance: formatRupees(balancePaise),
          // A physical card is unlocked by its activation.
          moves: cardMoves(card.status).filter((to) => card.status !== 'AP' || to !== 'UL'),
          kycMoves: kycMoves(card.kycStatus),
          changes: (await newestChanges(tx, partnerId, svcCardId, timeZone)).slice(0, SHOWN),
          ledgerAccountId,
          transfers: await newestTransfers(tx, ledgerAccountId, SHOWN, timeZone),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})
