import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const MANY = 20_000

let first: TestService
let partner: TestPartner
let svcCardId: string
let quietCardId: string

/** Gives a card many captures of the past, a tenth of them at another merchant. */
const grow = (card: string) =>
  asSuperuser(first.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    await db.query(
      `insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind,
         amount_paise, moved_paise, balance_paise, transfer_id, merchant_name, created_at)
       select $1, 'ctx_' || lpad(n::text, 26, '0'), $2, $3, $4, 'capture', 1, -1, 1, 'trf_' || lpad(n::text, 26, '0'),
         case n % 10 when 0 then 'Rare' else 'Common' end, now() - n * interval '1 minute'
       from generate_series(1, ${MANY}) n`,
      [partner.partnerId, card, partner.cardAccountId, partner.companyId],
    )
    await db.query('reset session_replication_role')
    await db.query('analyze')
  })

beforeAll(async () => {
  first = await openService({ background: false })
  partner = await newPartner(first)
  const issuer = await asPartner(first.client, partner)
  svcCardId = payloadOf(await createCard(issuer, partner)).svcCardId
  quietCardId = payloadOf(await createCard(issuer, partner)).svcCardId
  await grow(svcCardId)
})
afterAll(() => first.close())

/** How many transactions a request reads; connections report when they end. */
async function rowsRead(ask: (client: Client) => Promise<unknown>): Promise<number> {
  await asSuperuser(first.db.database, (db) => db.query('select pg_stat_reset()'))
  const service = await openService({ db: first.db, background: false })
  await ask(await asPartner(service.client, partner))
  await service.close()
  const { rows } = await asSuperuser(first.db.database, (db) =>
    db.query(
      `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables
       where relname = 'card_transactions'`,
    ),
  )
  return Number(rows[0].read)
}

const found = (query: Record<string, string>) => async (client: Client) => {
  const url = `/api/v0/partner/card-transactions?${new URLSearchParams({ limit: '20', ...query })}`
  expect(payloadOf(await client.get(url)).recordsCount).toBeGreaterThan(0)
}

test.each([
  ['a card', () => found({ svcCardId })],
  ['a card that has few of the partner', () => found({ svcCardId: quietCardId })],
  ['the partner', () => found({})],
  ['a card account', () => found({ cardAccountId: partner.cardAccountId })],
  ['a company', () => found({ companyId: partner.companyId })],
  ['a merchant', () => found({ merchantName: 'RARE' })],
  ['a day', () => found({ createdTo: new Date(Date.now() - 5 * 86_400_000).toISOString() })],
])('the first page of %s reads few transactions, however many there are', async (_, ask) => {
  const read = await rowsRead(ask())
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(100)
})

test('a later page reads as few transactions as the first one', async () => {
  const read = await rowsRead(async (client) => {
    const url = `/api/v0/partner/svcCard/${svcCardId}/transactions?limit=20`
    let { next } = payloadOf(await client.get(url))
    for (let page = 0; page < 4; page++) next = payloadOf(await client.get(`${url}&after=${next}`)).next
  })
  expect(read).toBeLessThan(200)
})
