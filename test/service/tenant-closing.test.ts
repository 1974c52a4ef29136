import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { closingStateOf, leftOpenOf, takeClosingSteps } from '../harness/closing.ts'
import { signedIn } from '../harness/console.ts'
import { expectFailure } from '../harness/failure.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, partnerToken } from '../harness/partner.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newCode, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, newShop } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService, tokenOf } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let other: TestService
let dataDir: string
beforeAll(async () => {
  service = await openService({ env: { PAYOUT_REQUIRES_SETTLEMENT: 'false' } })
  other = await openService({ db: service.db, background: false })
  dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'))
})
afterAll(async () => {
  await other.close()
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const cli = async (...args: string[]) => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dataDir }
  const { code, stdout, stderr } = await runHere(['admin', ...args, '--json'], env)
  return { code, stderr, json: stdout ? JSON.parse(stdout) : undefined }
}
const tokenWith = (apiKey: string) =>
  service.client.post('/api/v0/merchant/token', undefined, { 'api-key': apiKey })
/** Takes the steps that are due at once, not after the seconds of the loop. */
const left = async (tenantId: string) => {
  await takeClosingSteps(other)
  return leftOpenOf(service, tenantId)
}
const stateOf = async (tenantId: string) => {
  await takeClosingSteps(other)
  return closingStateOf(service, tenantId)
}

test('a merchant that leaves: keys revoked, codes cancelled, paid out, the last events delivered, then closed', async () => {
  const receiver = await WebhookReceiver.open()
  const merchant = await service.newMerchant()
  const { merchantId } = merchant
  const client = await service.as(merchant)
  payloadOf(await client.post('/api/v0/webhook-endpoints', { url: receiver.url() }))
  const { tr } = await newCode(service, client, { multipleUse: true })
  await newCodes(service, client, 30)
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 249.5 })))
  await giveAccount(service, merchantId, null)

  const { code, json, stderr } = await cli('tenant', 'close', merchantId, '--reason', 'contract ended')
  expect(code, stderr).toBe(0)
  expect(json).toMatchObject({ closingOn: expect.any(String), left: expect.any(Array) })
  expect((await tokenWith(merchant.apiKey)).error).toBe('invalid_api_key')
  await expect
    .poll(() => left(merchantId), { timeout: 20_000 })
    .toEqual([{ what: 'payable', amount: '249.50' }])
  expect(await stateOf(merchantId)).toBe('closing')
  // What payers send from now on is recorded, and goes back to them.
  const late = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 10 })))
  expect(late.status).toBe('REFUND_PENDING')

  const { commands } = service.app.services
  const businessDay = calendarDay(new Date(), 'Asia/Kolkata')
  const requested = { merchantId, businessDay, preparedBy: 'operator asha', isEarly: true }
  const { payoutId } = (await operatorsOf(commands).open(preparePayout).run(requested)).payout!
  expect(await left(merchantId)).toContainEqual({ what: 'payouts_in_transit', amount: '249.50' })
  for (const step of [
    { to: 'APPROVED', by: 'operator ravi' },
    { to: 'SENT', runId: 'pyr_closing' },
    { to: 'PAID', utr: 'PAIDOUT0001' },
  ] as const)
    await operatorsOf(commands).open(changePayout).run({ merchantId, payoutId, step })
  // The bank of the sandbox returns the late credit by itself.
  await expect.poll(() => stateOf(merchantId), { timeout: 20_000 }).toBe('closed')
  expect(
    await sql(`select from payments where payment_id = $1 and status = 'REFUNDED'`, [late.paymentId]),
  ).toHaveLength(1)
  expect(receiver.received.map(({ event }) => event.type)).toContain('payout.paid')
  expect(await sql('select from webhook_endpoints where tenant_id = $1 and enabled', [merchantId])).toEqual(
    [],
  )
  expect(
    await sql(`select from qr_codes where merchant_id = $1 and status = 'ACTIVE'`, [merchantId]),
  ).toEqual([])
  const actions = await sql<{ action: string; actor: string }>(
    `select action, actor from audit_log where tenant_id = $1 and action like 'tenant.%' order by sequence`,
    [merchantId],
  )
  expect(actions.map(({ action }) => action).toSorted()).toEqual([
    'tenant.closed',
    'tenant.closing',
    'tenant.disabled',
  ])
  expect(actions.at(-1)!.actor).toBe('service')
  const { data } = (await cli('tenant', 'closings', '--status', 'all')).json
  expect(data).toContainEqual(expect.objectContaining({ tenantId: merchantId, kind: 'merchant' }))
  expect(await brokenIn(service)).toEqual([])
  await receiver.close()
}, 60_000)

test('a closing tenant gets no credentials; enabling it ends the closing, and needs new ones', async () => {
  const merchant = await service.newMerchant()
  const { merchantId, apiKey } = merchant
  await newCode(service, await service.as(merchant))
  const admin = await signedIn(service, 'admin')
  expect((await admin.post(`/tenants/${merchantId}/closing`, { reason: 'moves away' })).status).toBe(200)
  const refused = await admin.post(`/tenants/${merchantId}/credentials`, { name: 'new' })
  expect(refused.error).toBe('tenant_closing')
  expect((await cli('key', 'issue', merchantId, '--name', 'new')).code).not.toBe(0)
  expect((await admin.send('PATCH', `/merchants/${merchantId}`, { disabled: false })).json.status).toBe(
    'active',
  )
  expect(await stateOf(merchantId)).toBe('active')
  expect((await tokenWith(apiKey)).error).toBe('invalid_api_key')
  const issued = (await admin.post(`/tenants/${merchantId}/credentials`, { name: 'new' })).json
  expect(await tokenOf(service.client, issued.secret)).toEqual(expect.any(String))
})

test('only an administrator enables a tenant that is closing', async () => {
  const { merchantId } = await service.newMerchant()
  const { partnerId } = await newPartner(service)
  const [admin, operator] = [await signedIn(service, 'admin'), await signedIn(service, 'operator')]
  for (const [tenantId, path] of [
    [merchantId, `/merchants/${merchantId}`],
    [partnerId, `/partners/${partnerId}`],
  ]) {
    await admin.post(`/tenants/${tenantId}/closing`, { reason: 'moves away' })
    expect((await operator.send('PATCH', path!, { disabled: false })).error).toBe('role_too_low')
    expect(['closing', 'closed']).toContain(await stateOf(tenantId!))
    expect((await admin.send('PATCH', path!, { disabled: false })).status).toBe(200)
    expect((await operator.send('PATCH', path!, { disabled: true })).status).toBe(200)
    expect((await operator.send('PATCH', path!, { disabled: false })).status).toBe(200)
  }
})

test('codes that are created and paid while the merchant closes: none is payable afterwards, and no money is lost', async () => {
  const { merchantId, client } = await newShop(service)
  const { tr } = await newCode(service, client, { multipleUse: true })
  const admin = await signedIn(service, 'admin')
  const creating = Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      i % 2
        ? client.post('/api/v0/qr-code', { qrName: `Late ${i}` })
        : notifyCredit((i % 4 ? service : other).client, creditOf(tr, { amount: 1 })),
    ),
  )
  const closing = admin.post(`/tenants/${merchantId}/closing`, { reason: 'now' })
  const responses = await creating
  expect((await closing).status).toBe(200)
  for (const [i, { status }] of responses.entries())
    expect(i % 2 ? [200, 401] : [200], `request ${i}`).toContain(status)
  await expect
    .poll(async () => (await left(merchantId)).map(({ what }) => what), { timeout: 20_000 })
    .not.toContain('qr_codes')
  const late = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 1 })))
  expect(late.status).toBe('REFUND_PENDING')
  expect(await brokenIn(service)).toEqual([])
})

test('a partner that leaves is closed when no money is left on accounts and cards, which stay their holders’', async () => {
  const partner = await newPartner(service, { fundsPaise: 500_00n })
  const { partnerId } = partner
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 500 }))
  await cli('tenant', 'close', partnerId, '--reason', 'contract ended')
  expectFailure(await partnerToken(service.client, partner), 'invalid_client')
  await expect.poll(() => left(partnerId)).toEqual([{ what: 'cards', amount: '500.00' }])
  expect(await stateOf(partnerId)).toBe('closing')
  const spend = `/sandbox/cards/${svcCardId}/spend`
  payloadOf(await service.client.post(spend, { amount: 500, channel: 'pos' }))
  await expect.poll(() => stateOf(partnerId), { timeout: 20_000 }).toBe('closed')
})

test('operators see what is open; viewers cannot close, strangers see nothing, and an unknown tenant is 404', async () => {
  const { merchantId } = await newShop(service)
  const viewer = await signedIn(service, 'viewer')
  expect((await viewer.get(`/tenants/${merchantId}/closing`)).json).toEqual({ left: [] })
  expect((await viewer.post(`/tenants/${merchantId}/closing`, { reason: 'x' })).status).toBe(403)
  expect((await viewer.get('/tenants/mer_nothing/closing')).error).toBe('tenant_not_found')
  expect((await cli('tenant', 'close', 'mer_nothing', '--reason', 'x')).stderr).toContain('Tenant not found')
  expect((await cli('tenant', 'closing', merchantId)).stderr).toContain('is not closing')
})
