import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { contentIn, settled } from '../harness/backups.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { insertManyCards } from '../harness/many-cards.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService, type TestDatabase } from '../harness/service.ts'

test('a backup is restored in any order of rows: also where a card comes long after the one that replaces it', async () => {
  const service = await openService()
  const partner = await newPartner(service, { fundsPaise: 1_000_000_000n })
  const client = await asPartner(service.client, partner)
  const { svcCardId: previous } = payloadOf(await createCard(client, partner, { loadAmount: 5 }))
  const path = `/api/v0/partner/svcCard/${previous}`
  payloadOf(await client.patch(`${path}/status`, { status: 'BL', reason: 'lost' }))
  payloadOf(await client.post(`${path}/replace`, { reason: 'lost' }))
  await settled(service.db)
  // Nothing else writes from here on.
  await service.close()
  await asSuperuser(service.db.database, async (db) => {
    await insertManyCards(db, partner, 1, 9_000)
    await db.query('set session_replication_role = replica')
    const page = async () => {
      const { rows } = await db.query<{ page: string }>(
        'update cards set modified_at = modified_at where svc_card_id = $1 returning (ctid::text::point)[0]::int as page',
        [previous],
      )
      return Number(rows[0]!.page)
    }
    // An update writes the row anew, behind all others once its page is full.
    while ((await page()) < 500);
  })
  const dir = await mkdtemp(join(tmpdir(), 'svc-backup-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'backup.tar')
  const svc = ({ url }: TestDatabase, ...args: string[]) =>
    runHere(['admin', ...args, '--json'], { DATABASE_URL: url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dir })
  expect(await svc(service.db, 'backup', file)).toMatchObject({ code: 0 })
  const copy = await newDatabase()
  // Whose books do not add up: nobody issued so many cards.
  expect((await svc(copy, 'restore', file)).stderr).toBe('')
  expect(await contentIn(copy)).toEqual(await contentIn(service.db))
  const references = (db: TestDatabase) =>
    asSuperuser(db.database, async (admin) => {
      const { rows } = await admin.query(
        `select conrelid::regclass::text as table, conname, convalidated, pg_get_constraintdef(oid) as text
         from pg_constraint where contype = 'f' order by 1, 2`,
      )
      return rows
    })
  expect(await references(copy)).toEqual(await references(service.db))
})
