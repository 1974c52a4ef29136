import { expect, test } from 'vitest'
import { type ApiAnswer, payloadOf } from '../harness/client.ts'
import { cancel, creditOf, newCode, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const MOST = 50
const openSmall = () => openService({ env: { REQUESTS_MAX: String(MOST) } })

/** Every batch of commands that changes QR codes takes seconds from now on. */
const slowDown = (service: TestService) =>
  asSuperuser(service.db.database, (admin) =>
    admin.query(`create function stroll() returns trigger language plpgsql as $$ begin
        perform pg_sleep(3); return null; end $$;
      create trigger stroll after update on qr_codes for each statement execute function stroll()`),
  )

test('when a process has its fill, whoever filled it is refused at once, and everybody else and the probes are served', async () => {
  const service = await openSmall()
  const [busy, other] = [
    await service.as(await service.newMerchant()),
    await service.as(await service.newMerchant()),
  ]
  const codes = [...(await newCodes(service, busy, 40)), ...(await newCodes(service, busy, 40))]
  await slowDown(service)
  const sent = codes.map(({ qrCodeId }) => cancel(busy, qrCodeId))
  const refused = await Promise.any(
    sent.map(async (answer) => ((await answer).status === 503 ? answer : Promise.reject(new Error('taken')))),
  )
  expect(refused).toMatchObject({ error: 'overloaded', headers: { 'retry-after': '1' } })
  for (let n = 0; n < 20; n++)
    expect((await other.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  expect((await service.client.get('/readyz')).status).toBe(200)
  const answers = await Promise.all(sent)
  const of = (status: number): ApiAnswer[] => answers.filter((answer) => answer.status === status)
  expect(of(200).length).toBeGreaterThanOrEqual(MOST)
  expect(of(200).length + of(503).length).toBe(codes.length)
  // What was refused was not carried out, and goes through when it is sent again.
  for (const [n, { status }] of answers.entries())
    if (status === 503) {
      const { qrCodeId } = codes[n]!
      expect(payloadOf(await busy.get(`/api/v0/qr-code/${qrCodeId}`)).status).toBe('ACTIVE')
    }
  expect(service.logged()).toContain('requests are refused')
  expect(service.logged()).not.toContain('a request failed')
  await service.close()
})

test('payments that wait for held rows of one merchant leave the bank room for those of the others', async () => {
  const service = await openSmall()
  const [held, free] = [
    await newCode(service, await service.as(await service.newMerchant()), { multipleUse: true }),
    await newCode(service, await service.as(await service.newMerchant()), { multipleUse: true }),
  ]
  await asSuperuser(service.db.database, async (admin) => {
    await admin.query('begin')
    await admin.query('select from qr_codes where qr_code_id = $1 for update', [held.qrCodeId])
    const waiting = Array.from({ length: MOST + 10 }, () => notifyCredit(service.client, creditOf(held.tr)))
    let answered = 0
    for (const answer of waiting) void answer.then(({ status }) => (answered += status === 200 ? 1 : 0))
    await expect
      .poll(async () => (await notifyCredit(service.client, creditOf(free.tr))).status, { timeout: 8_000 })
      .toBe(200)
    expect(answered).toBe(0)
    await admin.query('rollback')
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(MOST)
  })
  await service.close()
})
