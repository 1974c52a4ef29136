import { randomInt } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { businessDay, dailyStatement } from '@svc/core/payments/payouts/payout-statement'
import { preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../../test/harness/cli.ts'
import { type Client, type Json, payloadOf } from '../../test/harness/client.ts'
import { operatorsOf } from '../../test/harness/operators.ts'
import { giveAccount, giveFee } from '../../test/harness/payouts.ts'
import { newCode } from '../../test/harness/qr-codes.ts'
import { brokenIn, newShop, notifyRefund } from '../../test/harness/refunds.ts'
import { MASTER_KEY, openService, RAIL_KEY, type TestService } from '../../test/harness/service.ts'
import { Chance } from '../simulation/chance.ts'
import { Bank, type Credit, type Notice, type Till } from './bank.ts'
import { chargePaise, FEE_BASIS_POINTS, FEE_FIXED_PAISE, sum } from './charges.ts'

const PAYMENTS = Number(process.env['BANK_PAYMENTS'] ?? 400)
const SEED = Number(process.env['BANK_SEED'] ?? randomInt(2 ** 29))
const MERCHANTS = 20
const CALLERS = 32

interface Shop extends Till {
  readonly client: Client
}

let service: TestService
let dir: string
let bank: Bank
const chance = new Chance(SEED, 'bank')
const shops: Shop[] = []

beforeAll(async () => {
  service = await openService({ background: false, env: { GST_STATE: '29' } })
  dir = await mkdtemp(join(tmpdir(), 'svc-bank-'))
  for (let i = 0; i < MERCHANTS; i++) shops.push(await newTill())
  bank = new Bank(chance, shops, PAYMENTS)
}, 120_000)
afterAll(async () => {
  await service?.close()
  await rm(dir, { recursive: true, force: true })
})

async function newTill(): Promise<Shop> {
  const { merchantId, client, vpa } = await newShop(service)
  const { tr } = await newCode(service, client, { multipleUse: true })
  await giveAccount(service, merchantId, '29')
  await giveFee(service, merchantId, { basisPoints: FEE_BASIS_POINTS, fixedPaise: BigInt(FEE_FIXED_PAISE) })
  return { merchantId, client, tr, vpa }
}

/** Does the same with each, by many callers at a time. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const rest = all.values()
  const caller = async () => {
    for (const one of rest) await work(one)
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}

async function send({ body, isWellSigned, isKept }: Notice): Promise<void> {
  const key = isWellSigned ? RAIL_KEY : 'a key that the service does not have'
  const { status, text } = await service.client.notify('/rails/upi/credits', body, key)
  expect(status, `${JSON.stringify(body)}: ${text}`).toBe(isWellSigned ? (isKept ? 202 : 200) : 401)
}

const svc = async (...args: string[]): Promise<Json> => {
  const { stdout, stderr } = await runHere([...args, '--json'], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

const today = calendarDay(new Date(), 'Asia/Kolkata')
let files = 0

async function settle(lines: Iterable<string>): Promise<Json> {
  const file = join(dir, `${files++}.csv`)
  await pipeline(Readable.from(lines), createWriteStream(file))
  const begunMs = performance.now()
  const imported = await svc('admin', 'settlement', 'import', file)
  return { ...imported, seconds: (performance.now() - begunMs) / 1_000 }
}

const utrsOf = (credits: readonly Credit[]): string[] => credits.map(({ utr }) => utr).sort()

/** Differences by kind, as an operator lists them. */
async function differences(): Promise<Record<string, string[]>> {
  const all: Json[] = await svc('admin', 'settlement', 'differences', '--days', '0')
  const utrs = (kind: string) => all.flatMap((each) => (each.kind === kind ? [each.utr] : [])).sort()
  return { unknown: utrs('unknown'), differs: utrs('differs'), missing: utrs('missing') }
}

/** An operator reads the notices that were kept: enters what one reports that could not be read, and dismisses the others. */
async function workThroughKept(): Promise<void> {
  const credits = new Map(bank.of('unreadable').map((credit) => [credit.utr, credit]))
  for (;;) {
    const kept: Json[] = await svc('admin', 'notice', 'list', '--limit', '1000')
    if (kept.length === 0) break
    for (const { noticeId, utr } of kept) {
      const credit = credits.get(utr)
      if (credit) {
        const amount = (credit.amountPaise / 100).toFixed(2)
        const of = ['--utr', utr, '--amount', amount, '--tr', credit.till.tr]
        await svc('admin', 'notice', 'assign', noticeId, ...of)
      } else await svc('admin', 'notice', 'dismiss', noticeId, '--reason', 'nothing came of it')
      credits.delete(utr)
    }
  }
  expect(utrsOf([...credits.values()])).toEqual([])
}

/** Refunds of some payments; of each shop what the bank has paid back, in paise. */
async function refundSome(shop: Shop): Promise<number> {
  const { data } = payloadOf(await shop.client.get('/api/v0/payments?status=ACCEPTED&limit=100'))
  let refundedPaise = 0
  for (const { paymentId, amount } of data.slice(0, Math.ceil(data.length / 20))) {
    const part = chance.whole(1, Math.round(amount * 100))
    const request = { amount: part / 100, referenceNumber: paymentId }
    const path = `/api/v0/payments/${paymentId}/refunds`
    const { refundId } = payloadOf(await shop.client.post(path, request))
    const isMade = chance.happens(0.7)
    const outcome = isMade
      ? { status: 'REFUNDED', utr: `R${refundId.slice(4)}` }
      : { status: 'FAILED', reason: 'closed' }
    payloadOf(await notifyRefund(service, { refundId, ...outcome }))
    if (isMade) refundedPaise += part
  }
  return refundedPaise
}

async function payOut({ merchantId }: Shop): Promise<number> {
  const { commands } = service.app.services
  const payoutArgs = { merchantId, businessDay: today, preparedBy: 'operator asha', isEarly: true }
  const { payout } = await operatorsOf(commands).open(preparePayout).run(payoutArgs)
  const { payoutId, amountPaise } = payout!
  const change = operatorsOf(commands).open(changePayout)
  await change.run({ merchantId, payoutId, step: { to: 'APPROVED', by: 'operator ravi' } })
  await change.run({ merchantId, payoutId, step: { to: 'SENT', runId: 'pyr_1' } })
  await change.run({ merchantId, payoutId, step: { to: 'PAID', utr: `P${payoutId.slice(4)}` } })
  return Number(amountPaise)
}

/** What a merchant's payments brought, less fees and tax, by the bank's own books. */
const broughtIn = (shop: Shop): number =>
  sum(
    bank.credits
      .filter(({ till, fate }) => till === shop && fate !== 'stray')
      .map(({ amountPaise }) => amountPaise - chargePaise(amountPaise)),
  )

const statementOf = ({ merchantId }: Shop) =>
  service.app.services.database.operate((tx) =>
    dailyStatement(tx, merchantId, businessDay(today, 24 * 60, 'Asia/Kolkata')),
  )

test(`for ${PAYMENTS} payments of an error-prone bank every difference is detected, none is invented, and merchants get its money less fees`, {
  timeout: 3_600_000,
}, async () => {
  const begunMs = performance.now()
  await each(bank.notices(), send)
  await each(bank.contradictions(), send)
  const noticedMs = performance.now() - begunMs

  const first = await settle(bank.settlementFile(today))
  const absent = bank.of('lost', 'unreadable')
  const unsettled = bank.of('unsettled')
  const misbooked = bank.of('misbooked')
  expect(first).toMatchObject({
    matched: PAYMENTS - absent.length - unsettled.length - misbooked.length,
    differing: misbooked.length,
    unknown: absent.length,
    conflicting: 0,
  })
  expect(await differences()).toEqual({
    unknown: utrsOf(absent),
    differs: utrsOf(misbooked),
    missing: utrsOf(unsettled),
  })

  await each(bank.found(), send)
  await workThroughKept()
  expect(await settle(bank.settlementFile(today))).toMatchObject({ matched: absent.length, unknown: 0 })
  expect(await settle(bank.correctingFile(today))).toMatchObject({
    matched: unsettled.length + misbooked.length,
    conflicting: 0,
  })
  expect(await differences()).toEqual({ unknown: [], differs: [], missing: [] })

  const refunded: number[] = []
  const paid: number[] = []
  for (const shop of shops) {
    refunded.push(await refundSome(shop))
    paid.push(await payOut(shop))
    expect(paid.at(-1), shop.merchantId).toBe(broughtIn(shop) - refunded.at(-1)!)
    expect(await statementOf(shop), shop.merchantId).toMatchObject({ unexplainedPaise: 0n, closingPaise: 0n })
  }
  const suspense: Json[] = await svc('admin', 'suspense', 'list', '--limit', '1000')
  expect(suspense.map(({ utr }) => utr).sort()).toEqual(utrsOf(bank.of('stray')))
  expect(await brokenIn(service)).toEqual([])

  console.log(
    `bank seed ${SEED}: ${JSON.stringify({
      payments: PAYMENTS,
      noticesASecond: Math.round(PAYMENTS / (noticedMs / 1_000)),
      settlementSeconds: Number(first.seconds.toFixed(2)),
      settlementLines: first.lines,
      paidOutRupees: sum(paid) / 100,
      refundedRupees: sum(refunded) / 100,
      memoryMb: Math.round(process.memoryUsage().rss / 2 ** 20),
    })}`,
  )
})
