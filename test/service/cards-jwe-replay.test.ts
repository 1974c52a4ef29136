import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import {
  asPartner,
  CREATE,
  countRows,
  encryptFor,
  JOSE,
  newPartner,
  publishedKey,
  type TestPartner,
} from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client
let mobiles = 9_200_000_000

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

const orderOf = ({ companyId, cardAccountId } = partner) => ({
  companyId,
  cardAccountId,
  mobile: String(mobiles++),
  loadAmount: 1,
})
const newJwe = (order: object = orderOf()) => encryptFor(partner, order)
const send = (encrypted: string, key?: string, caller = client): Promise<ApiResponse> =>
  caller.post(CREATE, encrypted, key === undefined ? {} : { 'idempotency-key': key })
const cards = async () => (await countRows(service.db.database))['cards']!
const forgetResponses = () =>
  asSuperuser(service.db.database, (db) => db.query('delete from idempotency_keys'))

// Decision C13, in every mixture: how the encrypted request came first, how it comes again, and what is answered.
const SAME = 'the first answer'
test.each([
  [undefined, undefined, SAME],
  [undefined, 'a', 'encrypted_request_replayed'],
  ['b', 'b', SAME],
  ['c', undefined, SAME],
  ['d', 'e', 'encrypted_request_replayed'],
])(
  'an encrypted request sent first with key %s and again with key %s gets %s',
  async (first, second, expected) => {
    const encrypted = await newJwe()
    const response = await send(encrypted, first)
    payloadOf(response)
    const before = await cards()
    const again = await send(encrypted, second)
    if (expected === SAME) expect([again.status, again.text]).toEqual([200, response.text])
    else expect([again.status, again.error]).toEqual([409, expected])
    // Bare instead of quoted is the same encrypted request.
    const headers = { ...JOSE, ...(second !== undefined && { 'idempotency-key': second }) }
    expect((await client.send('POST', CREATE, encrypted, headers)).status).toBe(again.status)
    expect(await cards()).toBe(before)
  },
)

test.each([
  [undefined, undefined],
  ['f', 'f'],
  ['g', undefined],
  [undefined, 'h'],
  ['i', 'j'],
])(
  'once its response is deleted, an encrypted request sent first with key %s and again with key %s is 409 encrypted_request_replayed',
  async (first, second) => {
    const encrypted = await newJwe()
    payloadOf(await send(encrypted, first))
    await forgetResponses()
    const before = await cards()
    expect((await send(encrypted, second)).error).toBe('encrypted_request_replayed')
    expect(await cards()).toBe(before)
  },
)

test('the same request encrypted again under the same key gets the first response, another request is 422, and a new key a new card', async () => {
  const order = orderOf()
  const first = await send(await newJwe(order), 'k')
  expect((await send(await newJwe({ ...order }), 'k')).text).toBe(first.text)
  const reversed = Object.fromEntries(Object.entries(order).toReversed())
  expect((await send(await newJwe(reversed), 'k')).text).toBe(first.text)
  const other = await send(await newJwe({ ...order, loadAmount: 2 }), 'k')
  expect([other.status, other.error]).toEqual([422, 'idempotency_key_reused'])
  const { svcCardId } = payloadOf(await send(await newJwe(order), 'l'))
  expect(svcCardId).not.toBe(payloadOf(first).svcCardId)
})

test.each([1, 2])(
  'a request that was encrypted again for a repeat under its key creates no card later, also not at once, with %s services',
  async (services) => {
    const second = services === 2 ? await openService({ db: service.db }) : undefined
    const other = second ? await asPartner(second.client, partner) : client
    const order = orderOf()
    const key = `again-${services}`
    const { svcCardId } = payloadOf(await send(await newJwe(order), key))
    const before = await cards()
    const again = await newJwe(order)
    expect(payloadOf(await send(again, key)).svcCardId).toBe(svcCardId)
    for (const forget of [false, true]) {
      if (forget) await forgetResponses()
      for (const used of forget ? [undefined, key, `${key}-other`] : [undefined, `${key}-other`])
        expect((await send(again, used, other)).error).toBe('encrypted_request_replayed')
    }
    expect(await cards()).toBe(before)
    // A batch that has both decides on the repeat first, or on the order itself.
    const third = await newJwe(order)
    const first = await send(await newJwe(order), `${key}-first`)
    const both = await Promise.all([send(third, `${key}-first`), send(third, undefined, other)])
    expect(both[0].text).toBe(first.text)
    expect(await cards()).toBe(before + (both[1].status === 200 ? 2 : 1))
    expect((await send(third, `${key}-third`)).error).toBe('encrypted_request_replayed')
    await second?.close()
  },
)

test('the same key and request of another partner are independent', async () => {
  const other = await newPartner(service)
  const theirs = await asPartner(service.client, other)
  const mine = payloadOf(await send(await newJwe(), 'shared-name'))
  const response = await send(await encryptFor(other, orderOf(other)), 'shared-name', theirs)
  expect(payloadOf(response).svcCardId).not.toBe(mine.svcCardId)
})

test('a captured encrypted request is useless to another partner: with the shared key it does not decrypt, to a published key it names records of others', async () => {
  const theirs = await asPartner(service.client, await newPartner(service))
  const shared = await newJwe()
  const toUs = await encryptFor(partner, orderOf(), await publishedKey(service.client, 'X25519'))
  for (const encrypted of [shared, toUs]) payloadOf(await send(encrypted))
  const before = await countRows(service.db.database)
  expect((await send(shared, undefined, theirs)).error).toBe('decryption_failed')
  expect((await send(toUs, undefined, theirs)).error).toBe('company_not_found')
  expect((await send(toUs, 'm', theirs)).error).toBe('company_not_found')
  // It is used up for them, and for nobody else.
  const after = { ...before, batches: before['batches']! + 1 }
  expect(await countRows(service.db.database)).toEqual(after)
})

test('an encrypted request that was rejected is used up, its key is not', async () => {
  const poor = await newPartner(service, { fundsPaise: 0n })
  const caller = await asPartner(service.client, poor)
  const encrypted = await encryptFor(poor, orderOf(poor))
  for (const key of ['n', undefined, 'n'])
    expect((await send(encrypted, key, caller)).error).toBe('insufficient_funds')
  await asSuperuser(service.db.database, (db) =>
    db.query('update svc.ledger_accounts set balance = 1000 where account_id = $1', [
      `card_funding:${poor.cardAccountId}`,
    ]),
  )
  expect((await send(encrypted, 'n', caller)).error).toBe('insufficient_funds')
  const anew = await encryptFor(poor, orderOf(poor))
  const first = await send(anew, 'n', caller)
  payloadOf(first)
  expect((await send(anew, 'n', caller)).text).toBe(first.text)
})

test.each([1, 2])(
  'for one encrypted request sent 40 times at once to %s services, all get the same bytes and one card is created',
  async (services) => {
    const second = services === 2 ? await openService({ db: service.db }) : undefined
    const callers = [client, ...(second ? [await asPartner(second.client, partner)] : [])]
    for (const key of [undefined, `at-once-${services}`]) {
      const encrypted = await newJwe()
      const before = await cards()
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, i) => send(encrypted, key, callers[i % callers.length])),
      )
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
      expect(await cards()).toBe(before + 1)
    }
    // Under keys of its own each time: one is the first, the others are told.
    const encrypted = await newJwe()
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        send(encrypted, `own-${services}-${i}`, callers[i % callers.length]),
      ),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ error }) => error === 'encrypted_request_replayed')).toHaveLength(39)
    await second?.close()
  },
)
