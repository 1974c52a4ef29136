import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type CardRow, toIncentiveRecord, toReducedRecord } from './card-record.ts'
import { statement } from './database.ts'
import { fail } from './failures.ts'
import type { Services } from './services.ts'

const PAGE_ROWS = 1_000

const BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['cardAccountId', 'companyId'],
  properties: {
    cardAccountId: { type: 'string', maxLength: 64 },
    companyId: { type: 'string', maxLength: 64 },
    svcCardId: { type: 'string', maxLength: 64 },
  },
}

interface SearchRequest {
  readonly cardAccountId: string
  readonly companyId: string
  readonly svcCardId?: string
}

const spentSince = (unit: string) =>
  `coalesce(sum(amount) filter (where at >= date_trunc('${unit}', now(), 'Asia/Kolkata')), 0)::bigint as spent_${unit}`
const BALANCE = `(select l.balance from ledger_accounts l
     where l.tenant_id = c.partner_id and l.account_id = 'card:' || c.svc_card_id) as balance`
const HELD = `(select coalesce(sum(h.held_paise), 0)::bigint from card_authorizations h
     where h.partner_id = c.partner_id and h.svc_card_id = c.svc_card_id and h.status = 'OPEN') as held`

type Scope = { readonly incentive: boolean }

// One statement for a search of one card: the account, and beside it the card where it is the account's.
const ONE = statement<Partial<CardRow> & Scope & pg.QueryResultRow>(
  'search_one',
  `select co.name as company_name, a.account_type, a.bin_type, a.programme,
     case when cardinality(p.products) = 1 then p.products[1] else a.product end = 'incentive' as incentive, card.*
   from card_accounts a
     join partners p on p.partner_id = a.partner_id
     join companies co on co.partner_id = a.partner_id and co.company_id = a.company_id
     left join lateral (
       select c.*, ${BALANCE}, ${HELD}, used.*
       from cards c cross join lateral (
         select ${spentSince('day')}, ${spentSince('month')}, ${spentSince('year')},
           coalesce(sum(amount), 0)::bigint as spent
         from (
           select case t.kind when 'card_refund' then -t.amount else t.amount end as amount, t.created_at as at
           from ledger_transfers t
           where t.object_id = c.svc_card_id and t.tenant_id = c.partner_id
             and t.kind in ('card_spend', 'card_refund')) moves) used
       where c.partner_id = a.partner_id and c.svc_card_id = $4 and c.company_id = a.company_id
         and c.card_account_id = a.card_account_id) card on true
   where a.partner_id = $1 and a.card_account_id = $3 and a.company_id = $2`,
)
const SCOPE = statement<Scope & pg.QueryResultRow>(
  'search_scope',
  `select case when cardinality(p.products) = 1 then p.products[1] else a.product end = 'incentive' as incentive
   from card_accounts a join partners p using (partner_id)
   where a.partner_id = $1 and a.card_account_id = $3 and a.company_id = $2`,
)
const COMPANY = statement(
  'search_company',
  'select company_id from companies where partner_id = $1 and company_id = $2',
)
const PAGE = statement<CardRow>(
  'search_page',
  `select c.svc_card_id, c.user_id, c.card_account_id, c.company_id, c.expiry_month, c.expiry_year, c.holder,
     ${BALANCE}, ${HELD}
   from cards c
   where c.partner_id = $1 and c.company_id = $2 and c.card_account_id = $3 and c.svc_card_id > $4
   order by c.svc_card_id limit ${PAGE_ROWS}`,
)

async function* allCards(pool: pg.Pool, partnerId: string, { companyId, cardAccountId }: SearchRequest) {
  let count = 0
  yield '{"code":0,"message":"Success","payload":{"data":['
  for (let after = ''; ; ) {
    const rows = await PAGE(pool, [partnerId, companyId, cardAccountId, after])
    if (rows.length > 0)
      yield (count > 0 ? ',' : '') + rows.map((row) => JSON.stringify(toReducedRecord(row))).join(',')
    count += rows.length
    const last = rows.at(-1)
    if (!last || rows.length < PAGE_ROWS) break
    after = last.svc_card_id
  }
  yield `],"recordsCount":${count}}}`
}

async function notFound(pool: pg.Pool, partnerId: string, companyId: string): Promise<never> {
  const [company] = await COMPANY(pool, [partnerId, companyId])
  return fail(company ? 'card_account_not_found' : 'company_not_found')
}

const isCard = (row: Partial<CardRow>): row is CardRow => typeof row.svc_card_id === 'string'

export function mountCardSearch(app: FastifyInstance, { pool, access }: Services): void {
  app.route<{ Body: SearchRequest }>({
    method: 'POST',
    url: '/api/v0/partner/svcCard/search',
    config: { failureEnvelope: 'code' },
    schema: { body: BODY },
    onRequest: access.partner('cards:read', true),
    async handler({ tenantId, body }, reply) {
      const { companyId, cardAccountId, svcCardId } = body
      if (svcCardId === undefined) {
        const [scope] = await SCOPE(pool, [tenantId, companyId, cardAccountId])
        if (!scope) return notFound(pool, tenantId, companyId)
        if (scope.incentive) fail('validation_failed', 'svcCardId: is required')
        return reply.send(Readable.from(allCards(pool, tenantId, body)))
      }
      const [row] = await ONE(pool, [tenantId, companyId, cardAccountId, svcCardId])
      if (!row) return notFound(pool, tenantId, companyId)
      const data = !isCard(row) ? [] : [row.incentive ? toIncentiveRecord(row) : toReducedRecord(row)]
      return JSON.stringify({ code: 0, message: 'Success', payload: { data, recordsCount: data.length } })
    },
  })
}
