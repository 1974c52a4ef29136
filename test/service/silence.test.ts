import { expect, test, vi } from 'vitest'
import { type ApiResponse, payloadOf } from '../harness/client.ts'
import type { Freeze } from '../harness/cutting-proxy.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser } from '../harness/service.ts'
import {
  client,
  codesNamed,
  create,
  db,
  freezable,
  freezeOnce,
  happened,
  merchant,
  open,
  PROMISED_MS,
  proxy,
  readyz,
  service,
  timed,
  until,
  untilSure,
} from '../harness/silence.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
freezable()

test('a COMMIT whose response is lost in a frozen connection is found by its id: the caller sees no error', async () => {
  freezeOnce('freeze after COMMIT')
  const response = await create(client, 'lost-response')
  expect(response.status, response.text).toBe(200)
  expect(response.ms).toBeLessThan(PROMISED_MS)
  expect(await codesNamed('lost-response')).toBe(1)
  expect((await create(client, 'lost-response')).text).toBe(response.text)
})

test.each<Freeze>(['freeze before COMMIT', 'freeze within COMMIT', 'freeze after COMMIT'])(
  '%s, and silence on every connection: 503 outcome_unknown in time, and the repeats have one effect',
  async (where) => {
    freezeOnce(where)
    const sent = create(client, 'silent')
    await happened(() => proxy.cuts[where] > 0)
    proxy.pause()
    const response = await sent
    expect(response).toMatchObject({ status: 503, error: 'outcome_unknown', headers: { 'retry-after': '1' } })
    expect(response.ms).toBeLessThan(PROMISED_MS)
    proxy.resume()
    const repeats = await Promise.all([1, 2, 3].map(() => untilSure(() => create(client, 'silent'))))
    expect(new Set(repeats.map(({ text }) => text)).size).toBe(1)
    payloadOf(repeats[0]!)
    expect(await codesNamed('silent')).toBe(1)
  },
)

test('a repeat sent to another process, while the outcome is unknown to the first one, has no second effect', async () => {
  const other = await open(undefined)
  const elsewhere = await other.as(merchant)
  for (const where of ['freeze before COMMIT', 'freeze after COMMIT'] as const) {
    freezeOnce(where)
    const name = where.replaceAll(' ', '-')
    const sent = create(client, name)
    await happened(() => proxy.cuts[where] > 0)
    proxy.pause()
    const there = untilSure(() => create(elsewhere, name))
    expect(await sent).toMatchObject({ status: 503, error: 'outcome_unknown' })
    proxy.resume()
    const here = await untilSure(() => create(client, name))
    expect((await there).text).toBe(here.text)
    expect(await codesNamed(name)).toBe(1)
  }
  await other.close()
})

test('with a network that delivers nothing, no caller waits longer than promised', async () => {
  const { qrCodeId } = await newCode(service, client)
  proxy.pause()
  const send = (n: number): Promise<ApiResponse> => {
    if (n % 4 === 0) return client.get(`/api/v0/qr-code/${qrCodeId}`)
    if (n % 4 === 1) return client.post('/api/v0/qr-code/search', {})
    if (n % 4 === 2)
      return service.client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })
    return create(client, `paused-${n}`)
  }
  const responses = await Promise.all(Array.from({ length: 80 }, (_, n) => timed(send(n))))
  for (const { ms, status, text } of responses) {
    expect(status, text).toBe(503)
    expect(ms).toBeLessThan(PROMISED_MS)
  }
  proxy.resume()
  for (let n = 3; n < 80; n += 20) {
    payloadOf(await untilSure(() => create(client, `paused-${n}`)))
    expect(await codesNamed(`paused-${n}`)).toBe(1)
  }
})

test('slow packets: every request gets its response in time, and every success counts once', async () => {
  proxy.delay(() => (Math.random() < 0.3 ? 700 * Math.random() : 0))
  const names = Array.from({ length: 40 }, (_, n) => `slow-${n}`)
  const responses = await Promise.all(names.map((name) => create(client, name)))
  for (const { ms, text } of responses) expect(ms, text).toBeLessThan(PROMISED_MS)
  proxy.delay(() => 0)
  await Promise.all(names.map((name) => untilSure(() => create(client, name))))
  for (const name of names) expect([name, await codesNamed(name)]).toEqual([name, 1])
})

test('/readyz is 503 while a batch has had no response for long, although other connections work', async () => {
  freezeOnce('freeze before COMMIT')
  const sent = create(client, 'stuck')
  await happened(() => proxy.cuts['freeze before COMMIT'] > 0)
  await asSuperuser(db.database, async (admin) => {
    // No attempt at settling the batch ends.
    await admin.query('begin; lock table batches in exclusive mode')
    expect(await until(async () => (await readyz()) === 503)).toBeLessThan(10_000)
    expect(await sent).toMatchObject({ status: 503, error: 'outcome_unknown' })
    await admin.query('rollback')
  })
  expect(await until(async () => (await readyz()) === 200)).toBeLessThan(15_000)
})

const gauge = async (name: string): Promise<number> => {
  const text = await (
    await fetch(`${service.client.baseUrl}/metrics`, { headers: { authorization: 'Bearer m' } })
  ).text()
  return Number(new RegExp(`^${name}\\{queue="createQrCode"\\} (.*)$`, 'm').exec(text)?.[1])
}

test('the gauges count waiting commands and those in a batch that has no response', async () => {
  freezeOnce('freeze before COMMIT')
  const first = create(client, 'gauge-0')
  await happened(() => proxy.cuts['freeze before COMMIT'] > 0)
  expect(await gauge('svc_commands_in_flight')).toBe(1)
  expect(await gauge('svc_queued_commands')).toBe(0)
  const others = [1, 2, 3].map((n) => create(client, `gauge-${n}`))
  await happened(async () => (await gauge('svc_queued_commands')) === 3)
  expect(await gauge('svc_oldest_batch_seconds')).toBeGreaterThan(0)
  await Promise.all([first, ...others])
  await untilSure(() => create(client, 'gauge-0'))
  await happened(async () => (await gauge('svc_commands_in_flight')) === 0)
  expect(await gauge('svc_queued_commands')).toBe(0)
  expect(await gauge('svc_oldest_batch_seconds')).toBe(0)
})
