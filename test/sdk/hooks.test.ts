import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { MerchantOptions } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { merchantClient } from '../harness/sdk.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

const CODES = '/api/v0/qr-code'
const STREAM = '/api/v0/events/stream'

let service: TestService
let proxy: HttpProxy
let merchant: TestMerchant
beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
  merchant = await service.newMerchant()
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

const bug = new Error('a bug of the hook')
/** Throws once the client has its token. */
const throwing = (about: { readonly url: string } | string): void => {
  if (!(typeof about === 'string' ? about : about.url).includes('/token')) throw bug
}
const silent = { debug: () => undefined, warn: () => undefined }
const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  )
const sentTo = (path: string) => proxy.seen.filter((request) => request.path.startsWith(path))

describe.each<[string, Partial<MerchantOptions>, requests: number]>([
  ['onRequest', { onRequest: throwing }, 0],
  ['onResponse', { onResponse: throwing }, 1],
  ['logger.debug', { logger: { ...silent, debug: throwing } }, 1],
])('an error thrown by %s', (_, options, requests) => {
  test('fails a write unchanged, and the request is not sent again', async () => {
    const { qrCodes } = merchantClient(proxy, merchant, options)
    expect(await thrownBy(qrCodes.create({}))).toBe(bug)
    expect(sentTo(CODES)).toHaveLength(requests)
  })

  test('fails a read that got an error unchanged, and the request is not sent again', async () => {
    const { qrCodes } = merchantClient(proxy, merchant, options)
    proxy.decide = ({ path }) => (path.startsWith(CODES) ? { status: 503 } : 'pass')
    expect(await thrownBy(qrCodes.get('qr_none'))).toBe(bug)
    expect(sentTo(CODES)).toHaveLength(requests)
  })

  test('fails the following of events unchanged, and no other stream is opened', async () => {
    const { events } = merchantClient(proxy, merchant, options)
    expect(await thrownBy(events.follow().next())).toBe(bug)
    expect(sentTo(STREAM)).toHaveLength(requests)
  })
})

test.each<[string, Partial<MerchantOptions>]>([
  ['onRetry', { onRetry: throwing }],
  ['logger.warn', { logger: { ...silent, warn: throwing } }],
])(
  'an error thrown by %s fails the call unchanged, and the request is not sent again',
  async (_, options) => {
    const { qrCodes } = merchantClient(proxy, merchant, options)
    proxy.decide = ({ path }) => (path === CODES ? { status: 503 } : 'pass')
    expect(await thrownBy(qrCodes.create({}))).toBe(bug)
    expect(sentTo(CODES)).toHaveLength(1)
  },
)

test('an error thrown by the onResponse of one call fails it unchanged, and the request is not sent again', async () => {
  const { qrCodes } = merchantClient(proxy, merchant)
  expect(await thrownBy(qrCodes.create({}, { onResponse: throwing }))).toBe(bug)
  expect(sentTo(CODES)).toHaveLength(1)
})

test('an error thrown by a hook fails the wait for a payment unchanged, also when it is thrown only for the event stream', async () => {
  const { qrCodes } = merchantClient(proxy, merchant, {
    onResponse: ({ url }) => {
      if (url.includes(STREAM)) throw bug
    },
  })
  const { qrCodeId } = await qrCodes.create({ amount: 7 })
  expect(await thrownBy(qrCodes.waitForPayment(qrCodeId, { pollMs: 600_000 }))).toBe(bug)
})

test('a header field that cannot be sent is a TypeError at once, and nothing is sent', async () => {
  const { qrCodes } = merchantClient(proxy, merchant, { headers: { 'x-shop': 'ligne\nsuivante' } })
  expect(await thrownBy(qrCodes.create({}))).toBeInstanceOf(TypeError)
  expect(proxy.seen).toEqual([])
})
