import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ConnectionError, type Sandbox, Svc } from '../../packages/sdk/src/index.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { HttpProxy } from '../harness/http-proxy.ts'

let from: SandboxService
let proxy: HttpProxy
let dataDir: string
let sandbox: Sandbox

beforeAll(async () => {
  from = await openSandbox()
  proxy = await HttpProxy.open(from.service.baseUrl)
  dataDir = await mkdtemp(join(tmpdir(), 'svc-sdk-'))
  const file = { ...from.sandbox, baseUrl: proxy.baseUrl }
  await writeFile(join(dataDir, 'sandbox.json'), JSON.stringify(file))
  sandbox = await Svc.sandbox({ dataDir })
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await from.service.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** As a caller in JavaScript gives it, whom no type refuses. */
const KEY = { idempotencyKey: 'order-1' } as object

test('a payment whose response is lost is not sent again, with or without a key: its code was paid once', async () => {
  const pay = '/sandbox/upi/pay'
  for (const options of [{}, KEY]) {
    const { qrCodeId } = await sandbox.merchant.qrCodes.create({ amount: 5, multipleUse: true })
    proxy.seen.length = 0
    proxy.decide = ({ path }) => (path === pay ? 'lose' : 'pass')
    await expect(sandbox.pay({ qrCodeId }, options)).rejects.toBeInstanceOf(ConnectionError)
    expect(proxy.at(pay)).toHaveLength(1)
    expect(await sandbox.merchant.qrCodes.payments(qrCodeId).take(9)).toHaveLength(1)
  }
  const { qrCodeId } = await sandbox.merchant.qrCodes.create({ amount: 5, multipleUse: true })
  proxy.seen.length = 0
  const headers = { 'Idempotency-Key': 'order-1' }
  const paid = sandbox.merchant.api.http.POST(pay, { body: { qrCodeId }, headers })
  await expect(paid).rejects.toBeInstanceOf(ConnectionError)
  expect(proxy.at(pay)).toHaveLength(1)
})

test('a transfer and a clock advance whose response is lost are not sent again: both happened once', async () => {
  const { cardAccountId, partnerId } = sandbox.demo.incentivePartner
  const { cardAccounts } = sandbox.partner
  const { virtualAccountNumber } = await cardAccounts.fundingInstructions(cardAccountId)
  const before = await cardAccounts.get(cardAccountId)
  proxy.seen.length = 0
  proxy.decide = ({ path }) => (path.startsWith('/sandbox/') ? 'lose' : 'pass')
  const transfer = sandbox.transfer({ virtualAccountNumber, amount: 100 }, KEY)
  await expect(transfer).rejects.toBeInstanceOf(ConnectionError)
  const advanced = sandbox.advance(partnerId, { bySeconds: 60 }, KEY)
  await expect(advanced).rejects.toBeInstanceOf(ConnectionError)
  expect(proxy.seen.filter(({ path }) => path.startsWith('/sandbox/'))).toHaveLength(2)
  proxy.decide = () => 'pass'
  expect((await cardAccounts.get(cardAccountId)).balance).toBe(before.balance + 100)
  expect((await sandbox.clock(partnerId)).aheadSeconds).toBe(60)
})

test('a purchase whose response is lost is sent again with its key, and is charged to the card once', async () => {
  const { companyId, cardAccountId } = sandbox.demo.incentivePartner
  const { cards } = sandbox.partner
  const { svcCardId } = await cards.create({ companyId, cardAccountId, loadAmount: '500' })
  proxy.seen.length = 0
  proxy.decide = ({ path }) => (path.endsWith('/spend') && proxy.at('/spend').length === 1 ? 'lose' : 'pass')
  await sandbox.spend(svcCardId, { amount: 120, channel: 'pos' }, { idempotencyKey: 'till-7' })
  expect(proxy.at('/spend').map(({ headers }) => headers['idempotency-key'])).toEqual(['till-7', 'till-7'])
  expect((await cards.get(svcCardId)).otbBalance).toBe(380)
})

test('a sandbox elsewhere is used by its address alone, as it was reached, also when the first response is lost', async () => {
  proxy.decide = () => (proxy.seen.length === 1 ? 'lose' : 'pass')
  const { demo, merchant } = await Svc.sandbox({ baseUrl: proxy.baseUrl, dataDir: 'nowhere' })
  expect(demo).toEqual({ ...from.sandbox, baseUrl: proxy.baseUrl })
  expect(proxy.at('/sandbox/credentials')).toHaveLength(2)
  expect(await merchant.qrCodes.create({ amount: 5 })).toMatchObject({ amount: 5 })
})
