import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TRIGGERS } from '@svc/cli/trigger-event'
import type { EventType } from '@svc/contract/events'
import { groupBy } from '@svc/kernel/group-by'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Run, runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { LONG } from '../harness/long.ts'
import { asSuperuser, MASTER_KEY } from '../harness/service.ts'

let from: SandboxService
let folder: string
let env: Record<string, string>
beforeAll(async () => {
  from = await openSandbox()
  folder = await mkdtemp(join(tmpdir(), 'svc-trigger-'))
  await writeFile(join(folder, 'sandbox.json'), JSON.stringify(from.sandbox))
  env = { DATA_DIR: folder, DATABASE_URL: from.service.db.url, SVC_MASTER_KEY: MASTER_KEY }
})
afterAll(async () => {
  await from?.service.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]): Promise<Run> => runHere(args, env)
const trigger = (type: string, overrides: object = {}): Promise<Run> =>
  run(
    'trigger',
    type,
    ...Object.entries(overrides).flatMap(([field, value]) => [
      '--override',
      `${field}=${JSON.stringify(value)}`,
    ]),
  )

/** What the events of a type carry, in the order in which they were written. */
async function payloads(type: string): Promise<Json[]> {
  const { rows } = await asSuperuser(from.service.db.database, (db) =>
    db.query<{ payload: Json }>('select payload from outbox where type = $1 order by created_at, event_id', [
      type,
    ]),
  )
  return rows.map(({ payload }) => payload)
}

const events = async (): Promise<number> => {
  const { rows } = await asSuperuser(from.service.db.database, (db) =>
    db.query<{ count: number }>('select count(*)::int as count from outbox'),
  )
  return rows[0]!.count
}

let made = 0
const unique = (text: string): string => `${text}${Date.now()}${made++}`
const days = (count: number): string => new Date(Date.now() + count * 86_400_000).toISOString()

/** A value of each field that some trigger lets be replaced. */
const VALUES: Readonly<Record<string, () => unknown>> = {
  qrName: () => 'Another name',
  description: () => 'Another description',
  customerName: () => 'Ravi',
  customerId: () => 'c-1',
  customerEmail: () => 'ravi@example.com',
  customerMobile: () => '9876543210',
  customParams: () => ({ table: '7' }),
  referenceNumber: () => unique('ref-'),
  expiry: () => days(1),
  multipleUse: () => true,
  fixedAmount: () => true,
  amount: () => 12,
  payerVpa: () => 'ravi@bank',
  utr: () => unique('UTR'),
  companyId: () => from.sandbox.incentivePartner.companyId,
  cardAccountId: () => from.sandbox.incentivePartner.cardAccountId,
  userId: () => from.sandbox.incentivePartner.userId,
  title: () => 'Dr.',
  firstName: () => 'Ravi',
  middleName: () => 'K.',
  lastName: () => 'Menon',
  gender: () => 'male',
  email: () => `${unique('ravi')}@example.com`,
  mobile: () => String(9_000_000_000 + made++),
  loadAmount: () => 60,
  physicalCard: () => true,
  channel: () => 'pos',
  merchantName: () => 'Corner shop',
  reason: () => 'stolen',
  consentReference: () => 'letter-7',
  remitterName: () => 'Acme',
  remitterAccount: () => '0042',
  mode: () => 'IMPS',
  configuration: () => 'CUSTOM',
  event: () => unique('event_'),
  validFrom: () => days(-1),
  validTo: () => days(1),
  perUserDailyLimit: () => 1_000,
  coinsExpireAfterDays: () => 3,
  requestId: () => unique('req-'),
}
/** Where a value is another for the event to happen. */
const OF_EVENT: Readonly<Record<string, Json>> = { 'card.declined': { amount: 999_999 } }

const CAUSED = Object.entries(TRIGGERS).flatMap(([type, found]) =>
  'cause' in found ? [[type, found.fields] as const] : [],
)
const ADVISED = Object.entries(TRIGGERS).flatMap(([type, found]) =>
  'advice' in found ? [[type as EventType, found.advice] as const] : [],
)

test.each(CAUSED)('%s happens, also with every field of its requests replaced', async (type, fields) => {
  const all = Object.fromEntries(fields.map((field) => [field, VALUES[field]?.()]))
  for (const overrides of [{}, { ...all, ...OF_EVENT[type] }]) {
    const before = (await payloads(type)).length
    const { code, stderr } = await trigger(type, overrides)
    expect([code, stderr]).toEqual([0, ''])
    await expect.poll(async () => (await payloads(type)).length, { timeout: 30_000 }).toBeGreaterThan(before)
  }
})

test.each([...CAUSED, ...ADVISED])(
  '%s with a field that none of its requests has sends nothing',
  async (type) => {
    const before = await events()
    const { code, stdout, stderr } = await trigger(type, { colour: 'red' })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).not.toBe('')
    expect(await events()).toBe(before)
  },
)

describe('a replaced amount is that of the payment or the message that causes the event', () => {
  test.each(['payment.refund_pending', 'payment.refunded'])(
    '%s: the code keeps its own amount, which the payment does not match',
    async (type) => {
      expect((await trigger(type, { amount: 50 })).code).toBe(0)
      await expect
        .poll(async () => (await payloads(type)).at(-1), { timeout: 30_000 })
        .toMatchObject({ amount: 50, reason: 'amount_mismatch' })
    },
  )

  test.each(['card.authorized', 'card.captured', 'card.spent', 'card.refunded'])('%s', async (type) => {
    expect((await trigger(type, { amount: 31 })).code).toBe(0)
    expect((await payloads(type)).at(-1)).toMatchObject({ amount: 31 })
  })

  test('coins.redeemed', async () => {
    expect((await trigger('coins.redeemed', { amount: 3 })).code).toBe(0)
    expect((await payloads('coins.redeemed')).at(-1)).toMatchObject({ amount: 3 })
  })
})

test.each([
  ['qr_code.credited', 1.91, 'The payment is DECLINED'],
  ['payment.refund_pending', 10, 'The payment is ACCEPTED'],
  ['card.authorized', 999_999, 'The authorization is declined'],
  ['card.declined', 5, 'The authorization is approved'],
])('%s with the amount %s fails, since the event does not happen', async (type, amount, why) => {
  const before = (await payloads(type)).length
  const { code, stdout, stderr } = await trigger(type, { amount })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(why)
  expect((await payloads(type)).length).toBe(before)
})

/** Commands of an advice, one a line. */
const commandsOf = (advice: string): string[][] =>
  [...advice.matchAll(/^ {2}svc (.+)$/gm)].map(([, line]) => line!.split(' '))

const BY_TIME = groupBy(
  ADVISED.filter(([, advice]) => commandsOf(advice).length > 0),
  ([, advice]) => advice,
)

test('every event caused only by time has commands that cause it', () => {
  expect(
    [...BY_TIME.values()]
      .flat()
      .map(([type]) => type)
      .sort(),
  ).toEqual([
    'card.expired',
    'card.expiring',
    'card.hold_expired',
    'card.returned',
    'card.unclaimed_soon',
    'coins.expired',
    'coins.expiring',
  ])
})

/** Three years by the day take half a minute: of the events that need them the usual run causes those of one advice. */
const YEARS = [...BY_TIME].filter(([advice]) => advice.includes('400d'))
const SHOWN = [...BY_TIME].filter((each) => LONG || !YEARS.slice(1).includes(each))

test.each(SHOWN.map(([advice, of]) => [of.map(([type]) => type), advice] as const))(
  'the commands that svc trigger prints for %s cause it',
  async (types, advice) => {
    const count = () => Promise.all(types.map(async (type) => (await payloads(type)).length))
    const before = await count()
    for (const type of types) expect((await trigger(type)).stderr).toContain(advice)
    let svcCardId = ''
    for (const words of commandsOf(advice)) {
      const { code, stdout, stderr } = await run(
        ...words.map((word) => word.replace('<svcCardId>', svcCardId)),
      )
      expect([code, stderr], words.join(' ')).toEqual([0, ''])
      svcCardId = /\bcard_\w+/.exec(stdout)?.[0] ?? svcCardId
    }
    for (const [n, now] of (await count()).entries()) expect(now, types[n]).toBeGreaterThan(before[n]!)
  },
  300_000,
)
