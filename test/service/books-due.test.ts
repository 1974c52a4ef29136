import { booksAreDue } from '@svc/console-api/alerts/watch-alerts'
import { BackgroundCheck } from '@svc/console-api/background-check'
import { describe, expect, test } from 'vitest'
import { asSuperuser, openService } from '../harness/service.ts'

const since = (hours: number) => `now() - interval '${hours} hours'`

describe('the service checks the books by itself', () => {
  const RESULT = `'{"ok": true}'`
  /** A run of so many hours ago: with a result, broken off, or without an end. */
  const run = (hours: number, end: 'result' | 'problem' | 'none') =>
    `insert into console_checks (kind, started_at, started_by, finished_at, result, problem) values ('ledger',
       ${since(hours)}, 'service', ${end === 'none' ? 'null' : since(hours)},
       ${end === 'result' ? RESULT : 'null'}, ${end === 'problem' ? `'broken off'` : 'null'})`

  test.each<[string, boolean, ...string[]]>([
    ['not within 20 hours of a result', false, run(19, 'result')],
    ['20 hours after the last result', true, run(21, 'result')],
    ['not within an hour after a check that broke off', false, run(21, 'result'), run(0.9, 'problem')],
    ['an hour after a check that broke off', true, run(21, 'result'), run(1.1, 'problem')],
    ['an hour after a check whose process died', true, run(21, 'result'), run(1.1, 'none')],
    ['not while a check runs', false, run(21, 'result'), run(0.1, 'none')],
    ['where every check broke off', true, run(30, 'problem'), run(2, 'problem')],
  ])('%s', async (_, isDue, ...runs) => {
    const service = await openService({ background: false })
    try {
      await asSuperuser(service.db.database, async (db) => {
        await db.query(`update tenants set created_at = ${since(40)} where tenant_id = 'house'`)
        for (const each of runs) await db.query(each)
      })
      expect(await booksAreDue(service.app.services)).toBe(isDue)
    } finally {
      await service.close()
    }
  })

  test('the last result is kept, however many checks were aborted since', async () => {
    const service = await openService({ background: false })
    try {
      const rows = async (text: string) => asSuperuser(service.db.database, (db) => db.query(text))
      await rows(run(200, 'result'))
      for (let hours = 199; hours > 99; hours--) await rows(run(hours, 'problem'))
      const broken = () => Promise.reject(new Error('broken off'))
      await new BackgroundCheck(service.app.services, 'ledger', broken).start('service')
      const kept = async () =>
        (await rows('select result is not null as has from console_checks order by check_id')).rows
      await expect.poll(async () => (await kept()).length, { timeout: 20_000 }).toBe(51)
      expect((await kept())[0]).toEqual({ has: true })
    } finally {
      await service.close()
    }
  })
})
