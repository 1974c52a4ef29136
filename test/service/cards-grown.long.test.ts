import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { insertManyCards, manyCardId } from '../harness/many-cards.ts'
import { asPartner, CREATE, createCard, newPartner, SEARCH } from '../harness/partner.ts'
import { asSuperuser, openService } from '../harness/service.ts'

const CARDS = 20_000

// Row-level security keeps functions that are not leakproof out of index conditions, and statistics of yesterday make
// an index by tenant look as good as a key: both once made every look-up read all rows of the tenant.
test.each(['fresh', 'stale'])(
  'orders and lookups of single cards read few rows, however many the partner has, with %s statistics',
  async (statistics) => {
    const first = await openService()
    const { db } = first
    const partner = await newPartner(first, { products: ['employee_rewards'], fundsPaise: 10n ** 12n })
    const sql = (text: string) => asSuperuser(db.database, (admin) => admin.query(text))
    await asSuperuser(db.database, (admin) => insertManyCards(admin, partner, 1, 10))
    if (statistics === 'stale') await sql('analyze')
    await asSuperuser(db.database, (admin) => insertManyCards(admin, partner, 11, CARDS))
    if (statistics === 'fresh') await sql('analyze')
    await first.close()
    await sql('select pg_stat_reset()')

    const service = await openService({ db })
    const client = await asPartner(service.client, partner)
    const { companyId, cardAccountId } = partner
    for (let n = 1; n <= 20; n++) {
      payloadOf(
        await createCard(client, partner, {
          mobile: String(9_000_000_000 + n),
          email: `e${n}@example.com`,
          loadAmount: 1,
        }),
      )
      payloadOf(await createCard(client, partner, { email: `EMPLOYEE${n}@example.com`, loadAmount: 1 }))
      const svcCardId = manyCardId(n * 100)
      expect(payloadOf(await client.post(SEARCH, { companyId, cardAccountId, svcCardId })).recordsCount).toBe(
        1,
      )
      payloadOf(await client.get(`${CREATE}/${svcCardId}`))
      const page = { companyId, cardAccountId, limit: 10, after: svcCardId }
      expect(payloadOf(await client.post(SEARCH, page)).recordsCount).toBe(10)
    }
    // Connections tell what they read when they end.
    await service.close()
    const { rows } = await asSuperuser(db.database, (admin) =>
      admin.query<{ relname: string; read: string }>(
        `select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables
       where relname in ('cards', 'users', 'ledger_accounts', 'ledger_transfers')`,
      ),
    )
    expect(rows).toHaveLength(4)
    for (const { relname, read } of rows) {
      expect(Number(read), `${relname} was read at all`).toBeGreaterThan(0)
      expect(Number(read), `rows of ${relname} that were read`).toBeLessThan(CARDS / 10)
    }
  },
)
