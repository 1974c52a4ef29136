import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HttpProxy } from '../harness/http-proxy.ts'
import { merchantClient } from '../harness/sdk.ts'
import { openService, type TestService } from '../harness/service.ts'

const TOKEN = '/api/v0/merchant/token'

let service: TestService
let proxy: HttpProxy

beforeAll(async () => {
  service = await openService({ env: { TOKEN_EXPIRY: 'duration' } })
  proxy = await HttpProxy.open(service.baseUrl)
})
afterEach(() => {
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

test('with TOKEN_EXPIRY=duration, calls of a merchant share one token until it expires', async () => {
  const { qrCodes } = merchantClient(proxy, await service.newMerchant())
  for (let n = 0; n < 3; n++) await qrCodes.create({})
  expect(proxy.at(TOKEN)).toHaveLength(1)
})
