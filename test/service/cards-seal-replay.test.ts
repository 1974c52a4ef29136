import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiAnswer, type Client, payloadOf } from '../harness/client.ts'
import {
  asPartner,
  CREATE,
  countRows,
  JOSE,
  newPartner,
  publishedKey,
  sealFor,
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
const newSeal = (order: object = orderOf()) => sealFor(partner, order)
const send = (sealed: string, key?: string, caller = client): Promise<ApiAnswer> =>
  caller.post(CREATE, sealed, key === undefined ? {} : { 'idempotency-key': key })
const cards = async () => (await countRows(service.db.database))['cards']!
const forgetAnswers = () => asSuperuser(service.db.database, (db) => db.query('delete from idempotency_keys'))

// Decision C13, in every mixture: how the seal came first, how it comes again, and what is answered.
const SAME = 'the first answer'
test.each([
  [undefined, undefined, SAME],
  [undefined, 'a', 'seal_replayed'],
  ['b', 'b', SAME],
  ['c', undefined, SAME],
  ['d', 'e', 'seal_replayed'],
])(
  'a seal that came first with key %s and comes again with key %s gets %s',
  async (first, second, expected) => {
    const sealed = await newSeal()
    const answer = await send(sealed, first)
    payloadOf(answer)
    const before = await cards()
    const again = await send(sealed, second)
    if (expected === SAME) expect([again.status, again.text]).toEqual([200, answer.text])
    else expect([again.status, again.error]).toEqual([409, expected])
    // Bare instead of quoted is the same seal.
    const headers = { ...JOSE, ...(second !== undefined && { 'idempotency-key': second }) }
    expect((await client.send('POST', CREATE, sealed, headers)).status).toBe(again.status)
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
  'once its answer is forgotten, a seal that came with key %s and comes with key %s is 409 seal_replayed',
  async (first, second) => {
    const sealed = await newSeal()
    payloadOf(await send(sealed, first))
    await forgetAnswers()
    const before = await cards()
    expect((await send(sealed, second)).error).toBe('seal_replayed')
    expect(await cards()).toBe(before)
  },
)

test('the same request sealed anew under the same key gets the first answer, another request is 422, and a new key a new card', async () => {
  const order = orderOf()
  const first = await send(await newSeal(order), 'k')
  expect((await send(await newSeal({ ...order }), 'k')).text).toBe(first.text)
  const reversed = Object.fromEntries(Object.entries(order).toReversed())
  expect((await send(await newSeal(reversed), 'k')).text).toBe(first.text)
  const other = await send(await newSeal({ ...order, loadAmount: 2 }), 'k')
  expect([other.status, other.error]).toEqual([422, 'idempotency_key_reused'])
  const { svcCardId } = payloadOf(await send(await newSeal(order), 'l'))
  expect(svcCardId).not.toBe(payloadOf(first).svcCardId)
})

test('the same key and request of another partner is that partner’s own', async () => {
  const other = await newPartner(service)
  const theirs = await asPartner(service.client, other)
  const mine = payloadOf(await send(await newSeal(), 'shared-name'))
  const answer = await send(await sealFor(other, orderOf(other)), 'shared-name', theirs)
  expect(payloadOf(answer).svcCardId).not.toBe(mine.svcCardId)
})

test('a captured seal is worthless to another partner: with the shared key it does not open, to a published key it names what is not theirs', async () => {
  const theirs = await asPartner(service.client, await newPartner(service))
  const shared = await newSeal()
  const toUs = await sealFor(partner, orderOf(), await publishedKey(service.client, 'X25519'))
  for (const sealed of [shared, toUs]) payloadOf(await send(sealed))
  const before = await countRows(service.db.database)
  expect((await send(shared, undefined, theirs)).error).toBe('seal_rejected')
  expect((await send(toUs, undefined, theirs)).error).toBe('company_not_found')
  expect((await send(toUs, 'm', theirs)).error).toBe('company_not_found')
  expect(await countRows(service.db.database)).toEqual(before)
})

test('a seal that was refused may come again, and so may its key', async () => {
  const poor = await newPartner(service, { fundsPaise: 0n })
  const caller = await asPartner(service.client, poor)
  const sealed = await sealFor(poor, orderOf(poor))
  for (const key of ['n', undefined, 'n'])
    expect((await send(sealed, key, caller)).error).toBe('insufficient_funds')
  await service.app.services.database.operate((tx) =>
    tx.query({ name: 'test_fund', text: 'update ledger_accounts set balance = 1000 where account_id = $1' }, [
      `card_funding:${poor.cardAccountId}`,
    ]),
  )
  const first = await send(sealed, 'n', caller)
  payloadOf(first)
  expect((await send(sealed, 'n', caller)).text).toBe(first.text)
})

test.each([1, 2])(
  'of one seal sent 40 times at once to %s services, all get the same bytes and one card is made',
  async (services) => {
    const second = services === 2 ? await openService({ db: service.db }) : undefined
    const callers = [client, ...(second ? [await asPartner(second.client, partner)] : [])]
    for (const key of [undefined, `at-once-${services}`]) {
      const sealed = await newSeal()
      const before = await cards()
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => send(sealed, key, callers[i % callers.length])),
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(await cards()).toBe(before + 1)
    }
    // Under keys of its own each time: one is the first, the others are told.
    const sealed = await newSeal()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => send(sealed, `own-${services}-${i}`, callers[i % callers.length])),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ error }) => error === 'seal_replayed')).toHaveLength(39)
    await second?.close()
  },
)
