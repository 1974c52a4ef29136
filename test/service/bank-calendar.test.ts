import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let folder: string
const names: Record<'finance' | 'support', string> = { finance: '', support: '' }
beforeAll(async () => {
  service = await openService({ background: false })
  folder = await mkdtemp(join(tmpdir(), 'calendar-'))
  for (const role of ['finance', 'support'] as const) names[role] = (await newOperator(service, role)).name
})
afterAll(() => service.close())

const as = (role: keyof typeof names, ...args: string[]) =>
  runHere(['admin', 'calendar', ...args], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: names[role],
    SVC_OPERATOR_PASSWORD: PASSWORD,
  })
const svc = (...args: string[]) => as('finance', ...args)

let files = 0
async function file(text: string | Buffer): Promise<string> {
  const path = join(folder, `${++files}.csv`)
  await writeFile(path, text)
  return path
}
const year = new Date().getUTCFullYear() + 1

test('holidays of a file are added once, whatever its separator, encoding and forms of days', async () => {
  const text = `date;name\r\n26-Jan-${year};Republic Day\r\n22/03/${year};Holi\r\n\r\n${year}0414;Ambedkar Jayanti\r\n`
  const encoded = await file(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]))
  const dry = await svc('import', encoded, '--dry-run', '--json')
  expect([dry.code, dry.stderr, JSON.parse(dry.stdout)]).toEqual([
    0,
    '',
    expect.objectContaining({ holidays: 3 }),
  ])
  const first = await svc('import', encoded, '--reason', 'list of 2027', '--json')
  expect(JSON.parse(first.stdout)).toMatchObject({ added: 3, renamed: 0, repeated: 0 })
  const again = await svc('import', encoded, '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, renamed: 0, repeated: 3 })
  const renamed = await file(`date,name\n${year}-03-22,Dhulandi\n`)
  expect(JSON.parse((await svc('import', renamed, '--json')).stdout)).toMatchObject({ renamed: 1 })
  expect(JSON.parse((await svc('list', '--year', String(year), '--json')).stdout)).toEqual([
    { date: `${year}-01-26`, name: 'Republic Day' },
    { date: `${year}-03-22`, name: 'Dhulandi' },
    { date: `${year}-04-14`, name: 'Ambedkar Jayanti' },
  ])
  expect(JSON.parse((await svc('list', '--year', String(year + 1), '--json')).stdout)).toEqual([])
})

test('a file with a line that cannot be read adds nothing and names the line', async () => {
  const text = `date,name\n${year}-08-15,Independence Day\n15/31/${year},Nothing\n`
  const refused = await svc('import', await file(text))
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('date')])
  const twice = `date,name\n${year}-10-02,Gandhi Jayanti\n${year}-10-02,Dussehra\n${year}-12-25,\n`
  const named = await svc('import', await file(twice))
  expect(named.code).toBe(1)
  expect(named.stderr).toContain(
    'line 2: name is "Dussehra", and line 1 names the same day "Gandhi Jayanti": keep one',
  )
  expect(named.stderr).toContain('line 3: name must not be empty')
  const columns = await svc('import', await file('day,what\n2027-01-01,x\n'))
  expect([columns.code, columns.stderr]).toEqual([1, expect.stringContaining('date')])
  const listed = JSON.parse((await svc('list', '--json')).stdout)
  expect(listed.map(({ date }: { date: string }) => date)).not.toContain(`${year}-08-15`)
})

test('a holiday is removed with a reason, in the name of an operator who moves money, and the audit has it', async () => {
  await svc('import', await file(`date,name\n${year}-11-08,Diwali\n`), '--reason', 'list')
  const refused = await as('support', 'remove', `${year}-11-08`, '--reason', 'moved')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('yours is support')])
  const removed = await svc('remove', `${year}-11-08`, '--reason', 'moved to the 9th', '--json')
  expect(JSON.parse(removed.stdout)).toEqual({ date: `${year}-11-08`, name: 'Diwali' })
  const missing = await svc('remove', `${year}-11-08`, '--reason', 'again')
  expect([missing.code, missing.stderr]).toEqual([
    1,
    'There is no bank holiday on this day. List: svc admin calendar list',
  ])
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(
      `select action, actor, content::jsonb -> 'details' as details from audit_log where action = 'bank_holiday.removed'`,
    ),
  )
  expect(rows).toEqual([
    {
      action: 'bank_holiday.removed',
      actor: `operator ${names.finance}`,
      details: { name: 'Diwali', reason: 'moved to the 9th' },
    },
  ])
})
