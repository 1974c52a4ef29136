import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { keyMaker } from '@svc/app/serve-until'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { prepareDemo } from '@svc/server/sandbox/demo'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { insertManyCards, manyCardId } from '../harness/many-cards.ts'
import { asPartner, newPartner, SEARCH } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, newDatabase, openService } from '../harness/service.ts'

test('a payment of the sandbox that is in flight when the service drains gets its usual response', async () => {
  const service = await openService()
  const client = await service.as(await service.newMerchant())
  const { qrCodeId } = await newCode(service, client, { multipleUse: true })
  await asSuperuser(service.db.database, async (outsider) => {
    await outsider.query('begin')
    await outsider.query('select from qr_codes where qr_code_id = $1 for update', [qrCodeId])
    const queue = service.app.services.commands.open(acceptPayment)
    // Three notices, one after the other: the later ones begin while the service drains.
    const paying = client.post('/sandbox/upi/pay', { qrCodeId, amount: 5, duplicates: 2 })
    while (queue.submitted() === 0) await nextTurn()
    const closed = service.close()
    while (service.app.http.server.listening) await nextTurn()
    await outsider.query('rollback')
    expect(payloadOf(await paying).payment).toMatchObject({ status: 'ACCEPTED', amount: 5 })
    await closed
  })
})

test('a process that is draining reports it, and still responds to requests', async () => {
  const service = await openService()
  const client = await service.as(await service.newMerchant())
  const drained = service.app.drain(2_000)
  expect(await client.get('/readyz')).toMatchObject({ status: 503, error: 'temporarily_unavailable' })
  const response = await client.post('/api/v0/qr-code', {})
  payloadOf(response)
  expect(response.headers['connection']).toBe('close')
  await drained
  await expect(client.get('/livez')).rejects.toThrow()
})

test('a streamed response that is in progress when the service drains arrives whole, and its end is the end of the drain', async () => {
  const service = await openService()
  const partner = await newPartner(service, { products: ['employee_rewards'], fundsPaise: 10n ** 9n })
  // More than the buffers between here and the service hold.
  await asSuperuser(service.db.database, (admin) => insertManyCards(admin, partner, 1, 5_000))
  const { headers, baseUrl } = await asPartner(service.client, partner)
  const { companyId, cardAccountId } = partner
  const search = await request(`${baseUrl}${SEARCH}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ companyId, cardAccountId }),
  })
  const closed = service.close()
  while (service.app.http.server.listening) await nextTurn()
  const { payload } = JSON.parse(await search.body.text())
  expect(payload.data.map(({ svcCardId }: { svcCardId: string }) => svcCardId)).toEqual(
    Array.from({ length: 5_000 }, (_, i) => manyCardId(i + 1)),
  )
  // Its head promised the caller that the connection stays open.
  expect(search.headers['connection']).toBe('keep-alive')
  await closed
})

test('a connection that never sends anything does not delay the end of a service', async () => {
  const service = await openService()
  const accepted = once(service.app.http.server, 'connection')
  const { hostname, port } = new URL(service.baseUrl)
  const silent = connect(Number(port), hostname)
  silent.on('error', () => undefined).resume()
  await accepted
  await service.close()
  if (!silent.closed) await once(silent, 'close')
})

test('a delay that a caller of the sandbox requested ends when the service drains, and its request is executed', async () => {
  const service = await openService()
  const client = await service.as(await service.newMerchant())
  const received = once(service.app.http.server, 'request')
  const delayed = client.post('/api/v0/qr-code', {}, { 'sandbox-delay': '60000' })
  await received
  await service.close()
  payloadOf(await delayed)
})

test('processes that start at the same instant on a new database create one demo in total', async () => {
  const db = await newDatabase()
  const services = await Promise.all(Array.from({ length: 4 }, () => openService({ db })))
  const demos = await Promise.all(services.map(({ app }) => prepareDemo(app.services, keyMaker(app))))
  for (const name of ['merchant', 'otherMerchant'] as const)
    expect(new Set(demos.map((demo) => demo[name].merchantId)).size).toBe(1)
  expect(new Set(demos.map(({ coinConfigId }) => coinConfigId)).size).toBe(1)
  const cards = await asSuperuser(db.database, (admin) => admin.query('select from cards'))
  expect(cards.rowCount).toBe(3)
  for (const service of services) await service.close()
})
