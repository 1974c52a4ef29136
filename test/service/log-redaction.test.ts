import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../harness/client.ts'
import { Browser, PASSWORD, signedIn } from '../harness/console.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService()
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

const CANARY = /canary\.personal|9876501234|Canary Personal/i
const [name, email, mobile] = ['Canary Personal', 'canary.personal@example.com', '9876501234']

/** Lines of the log at error level since `text`. */
const errorsSince = (text: string) =>
  service
    .logged()
    .slice(text.length)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level >= 50)

test('a unique violation is logged with its constraint and code, and without the values of the row', async () => {
  await asSuperuser(service.db.database, (db) =>
    db.query('create unique index canary_unique on operators (left(name, 15))'),
  )
  const admin = await signedIn(service, 'admin')
  const operator = async (name: string) => {
    const { json } = await admin.post('/operators/invitations', { name, role: 'viewer' })
    const token = json.link.split('#')[1]
    return new Browser(service).post('/invitation/accept', { token, password: PASSWORD })
  }
  expect((await operator('canary.personal@example.com')).status).toBe(200)
  const before = service.logged()
  expect((await operator('canary.personal@example.net')).status).toBe(500)
  const [{ err }] = errorsSince(before)
  expect(err).toMatchObject({ type: 'DatabaseError', code: '23505', constraint: 'canary_unique' })
  expect(err.stack).toContain('.ts:')
  expect(service.logged()).not.toMatch(CANARY)
})

test('a check and a function that quote a row’s values write none of them to the log', async () => {
  await asSuperuser(service.db.database, (db) =>
    db.query(`
      create function canary_fails() returns trigger language plpgsql as $$
        begin
          if new.qr_name = 'cast' then
            perform new.customer_email::integer;
          end if;
          raise exception 'a rule failed' using detail = new.customer_email, hint = new.customer_mobile;
        end $$;
      create trigger canary_fails before insert on qr_codes for each row execute function canary_fails();
      alter table qr_codes add constraint canary_check check (qr_name <> 'checked') not valid`),
  )
  for (const qrName of ['cast', 'raise']) {
    const before = service.logged()
    const code = { qrName, customerName: name, customerEmail: `2${email}`, customerMobile: mobile }
    expect((await client.post('/api/v0/qr-code', code)).status).toBe(500)
    expect(errorsSince(before)[0].err.code).toBe(qrName === 'cast' ? '22P02' : 'P0001')
  }
  await asSuperuser(service.db.database, (db) => db.query('drop trigger canary_fails on qr_codes'))
  const before = service.logged()
  const code = { qrName: 'checked', customerName: name, customerEmail: `3${email}` }
  expect((await client.post('/api/v0/qr-code', code)).status).toBe(500)
  expect(errorsSince(before)[0].err.constraint).toBe('canary_check')
  expect(service.logged()).not.toMatch(CANARY)
})
