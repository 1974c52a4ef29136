import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import type { Freeze } from '../harness/cutting-proxy.ts'
import { newCode } from '../harness/qr-codes.ts'
import { tokenOf } from '../harness/service.ts'
import {
  client,
  codesNamed,
  create,
  freezable,
  merchant,
  open,
  PROMISED_MS,
  proxy,
  service,
  timed,
  untilSure,
} from '../harness/silence.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
freezable()

test('after temporarily_unavailable nothing was executed, and nothing is later', async () => {
  const wheres: Freeze[] = ['freeze before COMMIT', 'freeze within COMMIT', 'freeze after COMMIT']
  let batches = 0
  proxy.cut(() => wheres[batches++ % 7])
  const refused: string[] = []
  for (let round = 0; round < 3; round++) {
    if (round === 1) setTimeout(() => proxy.freeze(), 20)
    const names = Array.from({ length: 30 }, (_, n) => `code-${round}-${n}`)
    const responses = await Promise.all(
      names.map(async (name, n) => {
        await sleep(n * 40)
        return create(client, name)
      }),
    )
    responses.forEach(({ status, error, ms, text }, n) => {
      expect(ms, text).toBeLessThan(PROMISED_MS)
      if (error === 'temporarily_unavailable') refused.push(names[n]!)
      else expect([200, 503], text).toContain(status)
    })
  }
  proxy.cut(() => undefined)
  // The queue of commands goes on in order, so that what was under way before has come to its end.
  await untilSure(() => create(client, 'last'))
  for (const name of refused) expect([name, await codesNamed(name)]).toEqual([name, 0])
})

test('with every open connection frozen, reads, tokens and commands all get a response in time, and new connections work', async () => {
  const { qrCodeId } = await newCode(service, client)
  expect(proxy.freeze()).toBeGreaterThan(0)
  const responses = await Promise.all([
    timed(client.get(`/api/v0/qr-code/${qrCodeId}`)),
    timed(client.post('/api/v0/qr-code/search', {})),
    timed(service.client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })),
    create(client, 'frozen'),
  ])
  for (const { ms, text } of responses) expect(ms, text).toBeLessThan(PROMISED_MS)
  payloadOf(await untilSure(() => create(client, 'frozen')))
  await untilSure(() => client.get(`/api/v0/qr-code/${qrCodeId}`)).then(payloadOf)
  expect(await codesNamed('frozen')).toBe(1)
})

test('a service whose connections are frozen still closes', async () => {
  const own = await open(proxy)
  await own.as(await own.newMerchant())
  proxy.freeze()
  const startMs = performance.now()
  await own.close()
  expect(performance.now() - startMs).toBeLessThan(20_000)
  const again = await open(undefined)
  expect(await tokenOf(again.client, merchant.apiKey)).not.toBe('')
  await again.close()
})
