import { accountStatement } from '@svc/core/ledger/books'
import { businessDay, dailyStatement } from '@svc/core/payments/payouts/payout-statement'
import { timeOfId } from '@svc/kernel/ids'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const OLD = 20_000
const LONG_AGO = new Date(Date.now() - 90 * 86_400_000)
const today = () => calendarDay(new Date(), 'Asia/Kolkata')
const in20Days = () => calendarDay(new Date(Date.now() + 20 * 86_400_000), 'Asia/Kolkata')

let first: TestService
beforeAll(async () => {
  first = await openService({ background: false })
})
afterAll(() => first.close())

/** Gives an account many transfers of long ago, half of them on either side, as a grown ledger has them. */
const grow = (accountId: string, tenantId: string, otherId: string) =>
  asSuperuser(first.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    const values = [tenantId, accountId, otherId, timeOfId(LONG_AGO.getTime()), LONG_AGO]
    const id = (prefix: string) => `'${prefix}_' || $4 || lpad(n::text, 16, '0')`
    await db.query(
      `insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
       select $1, ${id('jrn')}, 'card_funding', $5::timestamptz::date, 1, $5 from generate_series(1, ${OLD}) n
       where $2::text <> $3::text`,
      values,
    )
    await db.query(
      `insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id,
         credit_account_id, amount, unit, object_id, created_at)
       select ${id('trf')}, $1, ${id('jrn')}, 1, 'card_funding', case n % 2 when 0 then $2 else $3 end,
         case n % 2 when 0 then $3 else $2 end, 1, 'INR', 'old', $5 from generate_series(1, ${OLD}) n`,
      values,
    )
    await db.query('reset session_replication_role')
    await db.query('analyze')
  })

/** How many transfers were read since the statistics were reset; connections report when they end. */
async function transfersRead(work: (service: TestService) => Promise<void>): Promise<number> {
  const service = await openService({ background: false, db: first.db })
  await asSuperuser(first.db.database, (db) => db.query('select pg_stat_reset()'))
  await work(service)
  await service.close()
  const { rows } = await asSuperuser(first.db.database, (db) =>
    db.query(
      `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_user_tables
       where relname = 'ledger_transfers'`,
    ),
  )
  return rows[0].read
}

test('the statement of a card account reads movements since its first day, not the lifetime of the account', async () => {
  // A day may end while this runs.
  const from = today()
  const partner = await newPartner(first)
  const { partnerId, cardAccountId } = partner
  await grow(`card_funding:${cardAccountId}`, partnerId, `funding_clearing:${partnerId}`)
  const client = await asPartner(first.client, partner)
  payloadOf(await createCard(client, partner, { loadAmount: 30 }))
  const read = await transfersRead(async (service) => {
    const issuer = await asPartner(service.client, partner)
    const path = `/api/v0/partner/card-accounts/${cardAccountId}/statement?from=${from}&to=${today()}`
    const { lines } = payloadOf(await issuer.get(path))
    expect(lines.map(({ kind }: { kind: string }) => kind)).toEqual(['card_funding', 'card_load'])
  })
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(OLD / 100)
})

test('a statement of a tenant whose clock is ahead has the movements in its time', async () => {
  const from = in20Days()
  const partner = await newPartner(first)
  const clock = `/sandbox/tenants/${partner.partnerId}/clock/advance`
  payloadOf(await first.client.post(clock, { bySeconds: 20 * 86_400 }))
  const client = await asPartner(first.client, partner)
  payloadOf(await createCard(client, partner, { loadAmount: 30 }))
  const path = `/api/v0/partner/card-accounts/${partner.cardAccountId}/statement?from=${from}&to=${in20Days()}`
  const { lines, openingBalance, closingBalance } = payloadOf(await client.get(path))
  expect(lines.map(({ amount }: { amount: number }) => amount)).toEqual([-30])
  expect(openingBalance - closingBalance).toBe(30)
})

test('the daily statement of a merchant and a page of its account read movements since the day', async () => {
  const begun = businessDay(today(), 1_440, 'Asia/Kolkata')
  const { merchantId } = await shopWith(first, 100)
  const accountId = `payable:${merchantId}`
  await grow(accountId, merchantId, `upi_clearing:${merchantId}`)
  const day = { ...begun, to: businessDay(today(), 1_440, 'Asia/Kolkata').to }
  const read = await transfersRead(async ({ app: { services } }) => {
    const statement = await services.database.report((tx) => dailyStatement(tx, merchantId, day))
    expect(statement).toMatchObject({ openingPaise: 0n, closingPaise: 100_00n, unexplainedPaise: 0n })
    const page = await services.database.report((tx) =>
      accountStatement(tx, { accountId, from: day.from, to: day.to, limit: 10 }),
    )
    expect(page!.lines).toHaveLength(1)
  })
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(OLD / 100)
})
