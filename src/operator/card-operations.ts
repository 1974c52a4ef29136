import { Type } from 'typebox'
import type { CardRow as StoredCard } from '../cards/card.ts'
import { cardOrders } from '../cards/card-changes.ts'
import { CardRecord, toCardRecord } from '../cards/card-record.ts'
import { CARD_STATUS_LABELS, cardMoves } from '../cards/card-states.ts'
import { readCardViews } from '../cards/card-view.ts'
import {
  type ChangeCardStatus,
  changeCardStatusSpec,
  REASON_CHARS_MAX,
  type WantedStatus,
} from '../cards/change-card-status.ts'
import { cardPartnerLookup } from '../cards/find-card-partner.ts'
import { CardChangeRecord, newestChanges } from '../cards/list-card-changes.ts'
import { fail } from '../errors.ts'
import { formatRupees } from '../kernel/money.ts'
import { rfc3339 } from '../kernel/time.ts'
import { accountId } from '../ledger/accounts.ts'
import { command, query, type Services } from '../platform/http/operation.ts'
import { refundAtTerminal, spendAtTerminal } from '../sandbox/card-terminal.ts'
import { actorOf, onBehalfOf, payloadOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  createdRange,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { newestTransfers, TransferRecord } from './ledger-operations.ts'
import { Filters, type ListPlan, readList } from './list.ts'
import { whoIs } from './user-operations.ts'

const TAG = 'Cards'
const PATH = `${CONSOLE_API}/cards`
const params = idParam('svcCardId')

const CardRow = record('CardRow', {
  svcCardId: text(),
  maskedNumber: text(),
  partnerId: text(),
  companyId: text(),
  companyName: text(),
  cardAccountId: text(),
  userId: text(),
  holderName: maybe(),
  status: Type.Enum(Object.keys(CARD_STATUS_LABELS)),
  physical: Type.Boolean(),
  load: rupeesText,
  balance: rupeesText,
  expires: text('`MM/YYYY`'),
  createdOn: instant,
})

type ListedCard = Pick<
  StoredCard,
  | 'svc_card_id'
  | 'masked_number'
  | 'partner_id'
  | 'company_id'
  | 'card_account_id'
  | 'user_id'
  | 'holder'
  | 'status'
  | 'physical'
  | 'load_paise'
  | 'expiry_month'
  | 'expiry_year'
  | 'created_at'
> & { company_name: string; balance: bigint }

const toWire = (row: ListedCard, timeZone: string) => ({
  svcCardId: row.svc_card_id,
  maskedNumber: row.masked_number,
  partnerId: row.partner_id,
  companyId: row.company_id,
  companyName: row.company_name,
  cardAccountId: row.card_account_id,
  userId: row.user_id,
  holderName: [row.holder.firstName, row.holder.lastName].filter(Boolean).join(' ') || undefined,
  status: row.status,
  physical: row.physical,
  load: formatRupees(row.load_paise),
  balance: formatRupees(row.balance),
  expires: `${String(row.expiry_month).padStart(2, '0')}/${row.expiry_year}`,
  createdOn: rfc3339(row.created_at, timeZone),
})

const SHOWN = 100

interface Asked {
  readonly q?: string | undefined
  readonly partnerId?: string | undefined
  readonly companyId?: string | undefined
  readonly cardAccountId?: string | undefined
  readonly userId?: string | undefined
  readonly status?: string | undefined
  readonly createdFrom?: string | undefined
  readonly createdTo?: string | undefined
  readonly sort?: string | undefined
}

function planOf({
  q,
  partnerId,
  companyId,
  cardAccountId,
  userId,
  status,
  createdFrom,
  createdTo,
  sort,
}: Asked): ListPlan {
  const filters = new Filters()
    .add('c.user_id = ?', userId)
    .add('c.status = ?', status)
    .created('c.svc_card_id', 'card', createdFrom, createdTo)
  if (q?.startsWith('card_')) filters.add('c.svc_card_id = ?', q)
  const plan = {
    columns: `c.svc_card_id, c.masked_number, c.partner_id, c.company_id, co.name as company_name, c.card_account_id,
      c.user_id, c.holder, c.status, c.physical, c.load_paise, l.balance, c.expiry_month, c.expiry_year, c.created_at`,
    table: 'cards c',
    alias: 'c',
    joins: `join companies co on co.company_id = c.company_id
      join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id`,
    filters,
    keys: [{ sql: 'c.svc_card_id', type: 'text' } as const],
    descending: sort !== 'created',
  }
  if (q !== undefined && !q.startsWith('card_')) {
    // Holder by holder: whoever is meant holds few cards.
    const users = new Filters()
    whoIs(users, 'u', q)
    const condition = users.conditions[0]!.replace('$1', filters.param(users.values[0]))
    const from = `from (select u.user_id from users u where ${condition} limit 1000) holders`
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

const partnerOf = ({ database }: Services) => {
  const find = cardPartnerLookup(database)
  return async (svcCardId: string): Promise<string> => (await find(svcCardId)) ?? fail('card_not_found')
}

export const listCards = query({
  ...consoleOperation,
  id: 'listCards',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List cards of all partners',
  role: 'viewer',
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
    return async ({ query }) => {
      const plan = planOf(query)
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedCard) => toWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showCard = query({
  ...consoleOperation,
  id: 'showCard',
  method: 'GET',
  path: `${PATH}/:svcCardId`,
  tag: TAG,
  summary: 'Show card: record, history, ledger entries',
  role: 'viewer',
  params,
  result: record('CardDetail', {
    partnerId: text(),
    card: CardRecord,
    balance: rupeesText,
    moves: Type.Array(text(), { description: 'Statuses that it may be given now' }),
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
      const partnerId = await find(svcCardId)
      const ledgerAccountId = accountId('card', svcCardId)
      const detail = await database.operate(async (tx) => {
        const key = { tenantId: partnerId, id: svcCardId }
        const [view] = await readCardViews(tx, [key], new Date(clock.now()), timeZone)
        const { card, balancePaise } = view ?? fail('card_not_found')
        return {
          partnerId,
          card: toCardRecord(view!, timeZone),
          balance: formatRupees(balancePaise),
          // A physical card is unlocked by its activation.
          moves: cardMoves(card.status).filter((to) => card.status !== 'AP' || to !== 'UL'),
          changes: (await newestChanges(tx, partnerId, svcCardId, timeZone)).slice(0, SHOWN),
          ledgerAccountId,
          transfers: await newestTransfers(tx, ledgerAccountId, SHOWN, timeZone),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

export const changeCardStatusInConsole = command({
  ...changeCardStatusSpec,
  ...consoleOperation,
  id: 'changeCardStatus',
  method: 'POST',
  path: `${PATH}/:svcCardId/status`,
  tag: TAG,
  summary: 'Lock, unlock or block card',
  role: 'operator',
  params,
  body: closed({
    status: Type.Enum(['L', 'UL', 'BL']),
    reason: Type.String({
      minLength: 1,
      maxLength: REASON_CHARS_MAX,
      pattern: '\\S',
      'x-rule': `must have 1 to ${REASON_CHARS_MAX} characters, not only spaces`,
      description: 'Kept in the history, shown to the partner as `remarks`',
    }),
  }),
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],
  prepare(services) {
    const orderOf = cardOrders(services)
    const find = partnerOf(services)
    return async ({ body, caller, params: { svcCardId }, requestId }): Promise<ChangeCardStatus> => {
      const partnerId = await find(svcCardId)
      const status = body.status as WantedStatus
      return {
        ...orderOf(partnerId, svcCardId),
        status,
        actor: 'operator',
        reason: body.reason,
        audit: {
          actor: actorOf(caller),
          requestId,
          action: 'card.status_changed',
          target: svcCardId,
          tenantId: partnerId,
          details: { status, reason: body.reason },
        },
      }
    }
  },
  answer: (changed, order) => {
    const { status, body } = changeCardStatusSpec.answer(changed, order)
    return { status, body: JSON.stringify(payloadOf(body)) }
  },
})

export const spendFromCard = query({
  ...consoleOperation,
  id: 'spendFromCard',
  method: 'POST',
  path: `${PATH}/:svcCardId/spend`,
  tag: TAG,
  summary: 'Spend from card (sandbox)',
  role: 'operator',
  sandboxOnly: true,
  params,
  body: spendAtTerminal.body!,
  result: spendAtTerminal.result,
  errors: spendAtTerminal.errors,
  mount(services) {
    const { submit } = spendAtTerminal.open(services)
    const find = partnerOf(services)
    return async (input) => {
      const { svcCardId } = input.params
      const audit = { action: 'sandbox.spent', target: svcCardId }
      const caller = onBehalfOf(await find(svcCardId), input, audit)
      const spent = await submit({
        ...input,
        caller,
        params: { svcCardId },
        query: {},
        body: input.body as never,
      })
      return { body: JSON.stringify(payloadOf(spent.body)) }
    }
  },
})

export const refundToCard = query({
  ...consoleOperation,
  id: 'refundToCard',
  method: 'POST',
  path: `${PATH}/:svcCardId/refund`,
  tag: TAG,
  summary: 'Refund to card (sandbox)',
  role: 'operator',
  sandboxOnly: true,
  params,
  body: refundAtTerminal.body!,
  result: refundAtTerminal.result,
  errors: refundAtTerminal.errors,
  mount(services) {
    const { submit } = refundAtTerminal.open(services)
    const find = partnerOf(services)
    return async (input) => {
      const { svcCardId } = input.params
      const audit = { action: 'sandbox.refunded', target: svcCardId }
      const caller = onBehalfOf(await find(svcCardId), input, audit)
      const refunded = await submit({
        ...input,
        caller,
        params: { svcCardId },
        query: {},
        body: input.body as never,
      })
      return { body: JSON.stringify(payloadOf(refunded.body)) }
    }
  },
})
