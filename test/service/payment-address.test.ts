import { moveDueAddresses } from '@svc/core/tenants/merchant'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { creditOf, notifyCredit } from '../harness/qr-codes.ts'
import { newShop } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let operations: Browser
beforeAll(async () => {
  service = await openService({ env: { APPROVER_COOLING_DAYS: '7' } })
  operations = new Browser(service)
  await operations.signIn((await newOperator(service, 'operations')).name)
})
afterAll(() => service.close())

const THIEF = 'somebody.else@bank'

/** The address that a new code of the merchant pays to. */
async function paidTo({ client }: { readonly client: Client }): Promise<string> {
  const { upiUri } = payloadOf(await client.post('/api/v0/qr-code', {}))
  return new URL(upiUri).searchParams.get('pa')!
}
const changesOf = async (client: Client): Promise<Json[]> =>
  payloadOf(await client.get('/api/v0/events?after=0'))
    .data.filter(({ type }: Json) => type === 'merchant.updated')
    .map(({ data }: Json) => data)
const edit = (merchantId: string, body: object) =>
  operations.send('PATCH', `/merchants/${merchantId}/data`, body)
const asOperatorLogin = (sql: string, values: unknown[] = []) =>
  asSuperuser(service.db.database, async (db) => {
    await db.query('set role svc_operator')
    return db.query(sql, values)
  })

test('one person alone does not change where new codes pay to: a new address waits, and the merchant is notified', async () => {
  const shop = await newShop(service)
  const { merchantId, vpa, client } = shop
  const { json } = await edit(merchantId, { vpa: THIEF })
  expect(json).toMatchObject({ vpa, nextVpa: THIEF, nextVpaOn: expect.any(String) })
  const days = (Date.parse(json.nextVpaOn) - Date.now()) / 86_400_000
  expect([days > 6.9, days < 7.1]).toEqual([true, true])
  expect(await paidTo(shop)).toBe(vpa)
  await expect
    .poll(() => changesOf(client))
    .toMatchObject([{ changed: ['paymentAddressRequested'], vpa, nextVpa: THIEF }])
  // What the program does at its time does nothing before; nor does the operators' login by hand.
  expect(await service.app.services.database.operate(moveDueAddresses)).toBe(0)
  for (const set of ['vpa = next_vpa', `vpa = 'third@bank'`, `vpa = next_vpa, next_vpa_from = now()`])
    await expect(
      asOperatorLogin(`update svc.merchants set ${set} where merchant_id = $1`, [merchantId]),
    ).rejects.toThrow('a payment address changes when its waiting time is over')
  await asOperatorLogin(
    `update svc.merchants set next_vpa_from = now() - interval '1 day' where merchant_id = $1`,
    [merchantId],
  )
  expect(await service.app.services.database.operate(moveDueAddresses)).toBe(0)
  expect(await paidTo(shop)).toBe(vpa)
})

test('a new address holds once it has waited; the change of a name does not touch what waits', async () => {
  const shop = await newShop(service)
  const { merchantId, vpa, client } = shop
  const next = `next.${vpa}`
  await edit(merchantId, { vpa: next })
  expect((await edit(merchantId, { name: 'Corner Shop Two' })).json).toMatchObject({ vpa, nextVpa: next })
  await asSuperuser(service.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    await db.query('update merchants set next_vpa_from = now() where merchant_id = $1', [merchantId])
  })
  expect(await service.app.services.database.operate(moveDueAddresses)).toBe(1)
  expect(await paidTo(shop)).toBe(next)
  const { json } = await operations.get(`/merchants/${merchantId}`)
  expect([json.vpa, json.nextVpa]).toEqual([next, undefined])
  await expect
    .poll(async () => (await changesOf(client)).map(({ changed }) => changed[0]))
    .toEqual(['paymentAddressRequested', 'details', 'paymentAddress'])
})

test('both sides take back what waits, the merchant in its portal; the service’s login enters no address', async () => {
  const { merchantId, vpa } = await newShop(service)
  await edit(merchantId, { vpa: THIEF })
  expect((await edit(merchantId, { vpa })).json).toMatchObject({ vpa })
  expect((await operations.get(`/merchants/${merchantId}`)).json.nextVpa).toBeUndefined()
  await edit(merchantId, { vpa: `again.${vpa}` })
  const { link } = (
    await operations.post(`/tenants/${merchantId}/members`, { name: 'owner@shop.example', role: 'admin' })
  ).json
  const member = new Browser(service, PORTAL_API)
  await member.post('/link/password', { token: link.split('#')[1], password: PASSWORD })
  expect((await member.get('/overview')).json.merchant).toMatchObject({ vpa, nextVpa: `again.${vpa}` })
  expect((await member.send('DELETE', '/next-payment-address')).json).toEqual({ vpa })
  expect((await member.get('/overview')).json.merchant.nextVpa).toBeUndefined()
  await expect(
    asSuperuser(service.db.database, async (db) => {
      await db.query('set role svc_service')
      await db.query(`set svc.tenants = '${merchantId}'`)
      await db.query(`update svc.merchants set next_vpa = 'x@bank' where merchant_id = $1`, [merchantId])
      const { rows } = await db.query('select next_vpa from svc.merchants where merchant_id = $1', [
        merchantId,
      ])
      if (rows[0]?.next_vpa !== 'x@bank') throw new Error('only operators enter a payment address')
    }),
  ).rejects.toThrow('only operators enter a payment address')
})

test('an address that another merchant has, or waits for, is refused', async () => {
  const [one, other] = [await newShop(service), await newShop(service)]
  expect((await edit(one.merchantId, { vpa: other.vpa })).error).toBe('already_exists')
  await edit(one.merchantId, { vpa: `wanted.${one.vpa}` })
  expect((await edit(other.merchantId, { vpa: `wanted.${one.vpa}` })).error).toBe('already_exists')
  // Nor by another merchant that is registered with it: a credit without a code would be that one's.
  for (const vpa of [one.vpa, `wanted.${one.vpa}`])
    for (const spelled of [vpa, vpa.toUpperCase()]) {
      expect((await edit(other.merchantId, { vpa: spelled })).error).toBe('already_exists')
      const created = await operations.post('/merchants', { name: 'Corner Shop', vpa: spelled, mcc: '5411' })
      expect(created.error, spelled).toBe('already_exists')
    }
})

test('an address that another merchant had before is refused forever; a credit to it is still that merchant’s, who may go back', async () => {
  const [one, other] = [await newShop(service), await newShop(service)]
  const { merchantId, vpa } = one
  const wait = async (to: string) => {
    await edit(merchantId, { vpa: to })
    await asSuperuser(service.db.database, async (db) => {
      await db.query('set session_replication_role = replica')
      await db.query('update merchants set next_vpa_from = now() where merchant_id = $1', [merchantId])
    })
    expect(await service.app.services.database.operate(moveDueAddresses)).toBe(1)
  }
  await wait(`next.${vpa}`)
  for (const spelled of [vpa, vpa.toUpperCase()]) {
    const created = await operations.post('/merchants', { name: 'Corner Shop', vpa: spelled, mcc: '5411' })
    for (const refused of [created, await edit(other.merchantId, { vpa: spelled })])
      expect(refused).toMatchObject({
        error: 'already_exists',
        text: expect.stringContaining(
          'another merchant has this payment address, waits for it or had it before',
        ),
      })
  }
  const credit = creditOf('NOSUCHCODE', { payeeVpa: vpa.toUpperCase() })
  const { paymentId } = payloadOf(await notifyCredit(service.client, credit))
  const [payee] = await sqlOn(service, 'select merchant_id from payments where payment_id = $1', [paymentId])
  expect(payee).toEqual({ merchant_id: merchantId })
  await wait(vpa)
  expect(await paidTo(one)).toBe(vpa)
  expect((await edit(other.merchantId, { vpa: `next.${vpa}` })).error).toBe('already_exists')
  await expect(
    asOperatorLogin(`update svc.merchants set former_vpas = '{}' where merchant_id = $1`, [merchantId]),
  ).rejects.toMatchObject({ code: '42501' })
})

test('an address that an operator entered who was disabled meanwhile does not take its place, and the merchant is notified', async () => {
  const { merchantId, vpa, client } = await newShop(service)
  const wanted = `wanted.${vpa}`
  const { name, operatorId } = await newOperator(service, 'operations')
  const clerk = new Browser(service)
  await clerk.signIn(name)
  await clerk.send('PATCH', `/merchants/${merchantId}/data`, { vpa: wanted })
  const waited = `select svc.may_act(next_vpa_by, 'operations') as may from svc.merchants where merchant_id = $1`
  expect((await asOperatorLogin(waited, [merchantId])).rows).toEqual([{ may: true }])
  const admin = await signedIn(service, 'admin')
  await admin.send('PATCH', `/operators/${operatorId}`, { disabled: true })
  expect((await operations.get(`/merchants/${merchantId}`)).json).toMatchObject({ vpa })
  await expect
    .poll(async () => (await changesOf(client)).map(({ changed }) => changed[0]))
    .toEqual(['paymentAddressRequested', 'paymentAddressWithdrawn'])
  // Nor where only the database knows of it.
  await asSuperuser(service.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    const set = `next_vpa = '${wanted}', next_vpa_from = now(), next_vpa_by = 'operator ${name}'`
    await db.query(`update merchants set ${set} where merchant_id = $1`, [merchantId])
  })
  await expect(
    asOperatorLogin('update svc.merchants set vpa = next_vpa where merchant_id = $1', [merchantId]),
  ).rejects.toMatchObject({ constraint: 'payment_address_waits' })
  expect(await service.app.services.database.operate(moveDueAddresses)).toBe(0)
})

test('a merchant is notified of its bank account, its fee, its credentials and its members', async () => {
  const { merchantId, client } = await newShop(service)
  const finance = new Browser(service)
  await finance.signIn((await newOperator(service, 'finance')).name)
  const account = { holder: 'Corner Shop', number: '000012345678', ifsc: 'HDFC0000001' }
  await finance.send('PUT', `/merchants/${merchantId}/bank-account`, account)
  await finance.post(`/merchants/${merchantId}/fees`, { percent: '1.80', fixed: '2.00' })
  const credentials = `/tenants/${merchantId}/credentials`
  const { credentialId } = (await operations.post(credentials, { name: 'till 2' })).json
  await operations.send('DELETE', `${credentials}/${credentialId}`)
  await operations.post(`/tenants/${merchantId}/members`, { name: 'new@shop.example', role: 'admin' })
  const seen = async () =>
    payloadOf(await client.get('/api/v0/events?after=0')).data.map(({ type, data }: Json) => [
      type,
      data.bankAccountEnds ?? data.fee?.percent ?? data.name,
    ])
  await expect.poll(seen).toEqual([
    ['merchant.updated', '5678'],
    ['merchant.updated', '1.80'],
    ['credential.issued', 'till 2'],
    ['api_key.revoked', 'till 2'],
    ['credential.revoked', 'till 2'],
    ['member.invited', 'new@shop.example'],
  ])
})
