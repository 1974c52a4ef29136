import { mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { insertManyCards } from '../harness/many-cards.ts'
import { newPartner } from '../harness/partner.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService } from '../harness/service.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { MasterKeys } from '../../src/platform/crypto/master-keys.ts'
import { writeBackup } from '../../src/backup/write-backup.ts'
import { verifyBackup } from '../../src/backup/read-backup.ts'
import { restoreBackup } from '../../src/backup/restore-backup.ts'

test('measure', { timeout: 600_000 }, async () => {
  const s = await openService()
  const p = await newPartner(s, { fundsPaise: 100_000_000_00n })
  await asSuperuser(s.db.database, (c) => insertManyCards(c, p, 1, 100_000))
  const masterKeys = new MasterKeys([new Secret(MASTER_KEY)])
  const file = join(await mkdtemp(join(tmpdir(), 'm-')), 'x.tar')
  const t0 = performance.now()
  const m = await writeBackup({ address: s.db, masterKeys, serviceVersion: 'x', file })
  const t1 = performance.now()
  await verifyBackup(file, masterKeys)
  const t2 = performance.now()
  const target = await newDatabase()
  const t3 = performance.now()
  await restoreBackup({ address: target, masterKeys, file, replace: false })
  const t4 = performance.now()
  const rows = m.tables.reduce((a, t) => a + t.rows, 0)
  const bytes = m.tables.reduce((a, t) => a + t.chunks.reduce((x, c) => x + c.bytes, 0), 0)
  console.log('MEASURE', { rows, mb: bytes / 1e6, fileMb: (await stat(file)).size / 1e6, backupS: (t1 - t0) / 1e3, verifyS: (t2 - t1) / 1e3, restoreS: (t4 - t3) / 1e3, rssMb: process.memoryUsage().rss / 1e6 })
  await s.close()
})
