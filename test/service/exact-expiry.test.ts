import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, payloadOf } from '../harness/client.ts'
import { asCoinPartner, balanceOf, COINS, newConfig, newEvent, newUsers } from '../harness/coins.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { type FrozenService, openFrozenService } from '../harness/frozen-time.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { creditOf, newCode, notifyCredit, trsOf } from '../harness/qr-codes.ts'
import type { TestMerchant } from '../harness/service.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
/** An instant with milliseconds, so that nothing is right by being rounded. */
const START = Math.floor(Date.now() / SECOND) * SECOND + 123

let service: FrozenService
let shop: TestMerchant
let partner: TestPartner
beforeAll(async () => {
  service = await openFrozenService({ CONSOLE_SESSION_HOURS: '1', CONSOLE_IDLE_MINUTES: '30' })
  shop = await service.newMerchant()
  partner = await newPartner(service, { fundsPaise: 0n })
})
afterAll(() => service.close())

const iso = (ms: number) => new Date(ms).toISOString()
const merchantAt = async (ms: number): Promise<Client> => {
  await service.at(ms)
  return service.as(shop)
}
const partnerAt = async (ms: number): Promise<Client> => {
  await service.at(ms)
  return asCoinPartner(service.client, partner)
}

test('the frozen time is the time of both the process and the database', async () => {
  await service.at(START)
  const [row] = await service.app.services.database.directory(
    statement<{ now: Date; then: Date }>(
      'frozen_now',
      'select clock_timestamp() as now, statement_timestamp() as then',
    ),
  )
  expect([row!.now.getTime(), row!.then.getTime(), service.app.services.clock.now()]).toEqual([
    START,
    START,
    START,
  ])
})

describe('a QR code, in the millisecond of its expiry,', () => {
  const expiry = START + HOUR
  const request = { multipleUse: true, expiry: iso(expiry), qrName: 'Exact' }
  const credit = async (qrCodeId: string) => {
    const tr = (await trsOf(service.db.database, [qrCodeId])).get(qrCodeId)!
    return payloadOf(await notifyCredit(service.client, creditOf(tr), service.app.services.clock.now()))
  }

  test('accepts no payment, and in the one before it does', async () => {
    const { qrCodeId } = await newCode(service, await merchantAt(START), request)
    await service.at(expiry - 1)
    expect(await credit(qrCodeId)).toMatchObject({ status: 'ACCEPTED' })
    await service.at(expiry)
    expect(await credit(qrCodeId)).toMatchObject({ status: 'REFUND_PENDING', reason: 'qr_code_expired' })
  })

  test('no longer occupies its reference, and in the one before it does', async () => {
    const create = async (ms: number, amount: number) => {
      const body = { referenceNumber: 'exact/1', expiry: iso(amount === 1 ? expiry : expiry + DAY), amount }
      const { status, error } = await (await merchantAt(ms)).post('/api/v0/qr-code', body)
      return [status, error]
    }
    expect(await create(START, 1)).toEqual([200, undefined])
    expect(await create(expiry - 1, 2)).toEqual([409, 'reference_in_use'])
    expect(await create(expiry, 2)).toEqual([200, undefined])
  })

  test('has its event, and in the one before it has none', async () => {
    const before = START + 2 * HOUR
    const at = before + 1
    await service.at(before)
    while ((await expireQrCodes(service.app.services)) > 0);
    await newCode(service, await merchantAt(START), { expiry: iso(at), qrName: 'Told' })
    await service.at(before)
    expect(await expireQrCodes(service.app.services)).toBe(0)
    await service.at(at)
    expect(await expireQrCodes(service.app.services)).toBe(1)
  })

  test('is shown as expired to operators, and in the one before it is not', async () => {
    const { name } = await newOperator(service, 'viewer')
    const { qrCodeId } = await newCode(service, await merchantAt(START), request)
    const shown = async (ms: number) => {
      await service.at(ms)
      const browser = new Browser(service)
      await browser.signIn(name)
      const { qrCode: row } = (await browser.get(`/qr-codes/${qrCodeId}`)).json
      const { history } = (await browser.get(`/history/${qrCodeId}`)).json
      return [row.expired, history.some(({ what }: { what: string }) => what === 'expired')]
    }
    expect([await shown(expiry - 1), await shown(expiry)]).toEqual([
      [false, false],
      [true, true],
    ])
  })
})

test('the expiry of a new QR code is later than now, by at least a millisecond and at most five years', async () => {
  const caller = await merchantAt(START)
  const latest = new Date(START)
  latest.setUTCFullYear(latest.getUTCFullYear() + 5)
  const create = (ms: number) => caller.post('/api/v0/qr-code', { expiry: iso(ms) })
  for (const [ms, status] of [
    [START, 400],
    [START + 1, 200],
    [latest.getTime(), 200],
    [latest.getTime() + 1, 400],
  ] as const)
    expect([ms - START, (await create(ms)).status]).toEqual([ms - START, status])
})

test('coins cannot be spent from the millisecond of their expiry on, and in the one before they can', async () => {
  const caller = await partnerAt(START)
  const [userId] = await newUsers(service, partner, 1)
  const { event } = await newConfig(caller, { coinsExpireAfterDays: 1 })
  payloadOf(
    await caller.post(`${COINS}/allocate`, { requestId: 'lot', event, userId, companyId: partner.companyId }),
  )
  const expiry = START + DAY
  const redeem = async (requestId: string) =>
    (await partnerAt(service.app.services.clock.now())).post(`${COINS}/redeem`, {
      requestId,
      userId,
      amount: 1,
    })
  const before = await partnerAt(expiry - 1)
  expect(await expireDueCoins(service.app.services)).toBe(0)
  expect(await balanceOf(before, userId!)).toMatchObject({ active: 10, expired: 0 })
  expect((await redeem('in-time')).status).toBe(200)
  const after = await partnerAt(expiry)
  expect(await balanceOf(after, userId!)).toMatchObject({ active: 0, expired: 9, spent: 1 })
  expect((await redeem('late')).error).toBe('insufficient_coins')
  expect(await expireDueCoins(service.app.services)).toBe(1)
})

test('a coin configuration is valid from the millisecond of validFrom to the one before validTo', async () => {
  const caller = await partnerAt(START)
  const [userId] = await newUsers(service, partner, 1)
  const [from, to] = [START + 1_000, START + 2_000]
  const { event } = await newConfig(caller, { validFrom: iso(from), validTo: iso(to) })
  const award = async (ms: number) => {
    const body = { requestId: `at-${ms}`, event, userId, companyId: partner.companyId }
    return (await (await partnerAt(ms)).post(`${COINS}/allocate`, body)).error ?? 'awarded'
  }
  const listed = async (ms: number) =>
    payloadOf(await caller.post(`${COINS}/search`, { event, validAt: iso(ms) })).data.length
  for (const [ms, verdict] of [
    [from - 1, 'no_coin_config'],
    [from, 'awarded'],
    [to - 1, 'awarded'],
    [to, 'no_coin_config'],
  ] as const) {
    expect([ms - START, await award(ms)]).toEqual([ms - START, verdict])
    expect([ms - START, await listed(ms)]).toEqual([ms - START, verdict === 'awarded' ? 1 : 0])
  }
})

test('an award may have occurred 31 days ago or 5 minutes ahead, and not a millisecond more', async () => {
  const caller = await partnerAt(START)
  const award = async (ms: number) =>
    (
      await caller.post(`${COINS}/allocate`, {
        requestId: `occurred-${ms}`,
        event: newEvent(),
        userId: partner.userId,
        companyId: partner.companyId,
        occurredOn: iso(ms),
      })
    ).error
  expect(await award(START - 31 * DAY)).toBe('no_coin_config')
  expect(await award(START - 31 * DAY - 1)).toBe('validation_failed')
  expect(await award(START + 300_000)).toBe('no_coin_config')
  expect(await award(START + 300_001)).toBe('validation_failed')
})

test('a notice of the rail that is more than 300 seconds old or ahead, by a millisecond, is flagged', async () => {
  const signedAt = Math.floor(START / SECOND) * SECOND
  const flags = statement<{ flags: string[] }>('frozen_flags', 'select flags from directory_payments($1)')
  for (const [ms, wanted] of [
    [300_001, ['signed_long_ago']],
    [300_000, []],
    [-300_000, []],
    [-300_001, ['signed_long_ago']],
  ] as const) {
    await service.at(signedAt + ms)
    const credit = creditOf(`none${ms}`)
    expect((await notifyCredit(service.client, credit, signedAt)).status).toBe(200)
    const [row] = await service.app.services.database.directory(flags, [[credit.utr]])
    expect([ms, row!.flags]).toEqual([ms, wanted])
  }
})

test.each([
  ['idle', 30 * 60 * SECOND, 0],
  ['over', HOUR, 40 * 60 * SECOND],
])(
  'an operator’s session that is %s ends in that very millisecond, and is valid in the one before',
  async (_, lastsMs, keptAfterMs) => {
    const { name } = await newOperator(service, 'viewer')
    const signIn = async () => {
      await service.at(START)
      const browser = new Browser(service)
      expect((await browser.signIn(name)).status).toBe(200)
      // Kept from being idle, where that would end it first.
      for (let ms = 20 * 60 * SECOND; ms <= keptAfterMs; ms += 20 * 60 * SECOND) {
        await service.at(START + ms)
        expect((await browser.get('/session')).status).toBe(200)
      }
      return browser
    }
    const [kept, ended] = [await signIn(), await signIn()]
    await service.at(START + lastsMs - 1)
    expect((await kept.get('/session')).status).toBe(200)
    await service.at(START + lastsMs)
    expect((await ended.get('/session')).error).toBe('not_signed_in')
  },
)

test('the first response of an idempotency key is stored for its hours, to the millisecond', async () => {
  // Older than the stored retention: that goes by the database's real clock, which nothing here can stop.
  const sentAt = START - 4 * DAY
  const caller = await merchantAt(sentAt)
  const send = (client: Client) => client.post('/api/v0/qr-code', {}, { 'idempotency-key': 'exact' })
  const first = payloadOf(await send(caller)).qrCodeId
  const { database } = service.app.services
  const purge = statement('frozen_purge', 'select forget_old_rows($1, $1)')
  await database.directory(purge, [new Date(sentAt)])
  const again = await merchantAt(sentAt + DAY)
  expect(payloadOf(await send(again)).qrCodeId).toBe(first)
  await database.directory(purge, [new Date(sentAt + 1)])
  expect(payloadOf(await send(again)).qrCodeId).not.toBe(first)
})
