import { CompactEncrypt } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SvcError } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { merchantClient, partnerClient } from '../harness/sdk.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

const PREFIX = '/payments/v2'

let service: TestService
let gateway: HttpProxy
let merchant: TestMerchant
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  gateway = await HttpProxy.open(service.baseUrl, PREFIX)
  merchant = await service.newMerchant()
  partner = await newPartner(service)
})
afterEach(() => {
  gateway.seen.length = 0
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

describe.each([
  ['without', ''],
  ['with', '/'],
  ['with two', '//'],
])('behind a gateway under a path, %s trailing slash', (_, end) => {
  const at = () => ({ baseUrl: `${gateway.baseUrl}${end}` })
  const outside = () =>
    gateway.seen.map(({ path }) => path).filter((path) => !/^\/payments\/v2\/[\w.]/.test(path))

  test('a merchant sends its key, its token and every request under the gateway’s path only', async () => {
    const { qrCodes, events } = merchantClient(at(), merchant, { maxRetries: 0 })
    const code = await qrCodes.create({})
    for await (const event of events.follow({ type: 'qr_code.created' }))
      if ((event.data as { qrCodeId: string }).qrCodeId === code.qrCodeId) break
    expect((await events.list().take(1)).length).toBe(1)
    expect(gateway.at('/api/v0/merchant/token')).toHaveLength(1)
    expect(outside()).toEqual([])
  })

  test('a partner sends its secret and requests the published keys under the gateway’s path only', async () => {
    const { cards, webhooks } = partnerClient(at(), partner, {
      maxRetries: 0,
      encryption: { publishedKey: 'ECDH-ES+A256KW P-256' },
    })
    const { companyId, cardAccountId } = partner
    const { svcCardId } = await cards.create({ companyId, cardAccountId, loadAmount: '100' })
    expect((await cards.get(svcCardId)).svcCardId).toBe(svcCardId)
    expect(await webhooks.list()).toEqual([])
    expect(gateway.at('/oauth/token')).toHaveLength(1)
    expect(gateway.at('/.well-known/jwks.json')).toHaveLength(1)
    expect(outside()).toEqual([])
  })

  test('the link to the reference in an error keeps the gateway’s path', async () => {
    const error = await merchantClient(at(), merchant)
      .qrCodes.get('qr_none')
      .catch((thrown: unknown) => thrown)
    expect(SvcError.is(error, 'qr_code_not_found') && error.docs).toBe(
      `${gateway.baseUrl}/docs/errors#qr_code_not_found`,
    )
  })
})

test('an order that is bound to a path names the path of the operation, without the gateway’s path', async () => {
  const path = '/api/v0/partner/svcCard'
  const { api } = partnerClient(gateway, partner)
  const { companyId, cardAccountId, sharedKey } = partner
  const { kid, alg, enc, key } = sharedKey
  const order = new TextEncoder().encode(JSON.stringify({ companyId, cardAccountId, loadAmount: '10' }))
  const send = async (url: string) => {
    const body = await new CompactEncrypt(order).setProtectedHeader({ alg, enc, kid, url }).encrypt(key)
    return api.fetch(path, { method: 'POST', body, headers: { 'content-type': 'application/jose' } })
  }
  expect((await send(path)).status).toBe(200)
  await expect(send(`${PREFIX}${path}`)).rejects.toMatchObject({ error: 'decryption_failed' })
})
