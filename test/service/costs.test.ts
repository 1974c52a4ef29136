import { Session } from 'node:inspector/promises'
import { issueApiKey } from '@svc/core/tenants/api-key'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse } from '../harness/client.ts'
import { COINS, newCoinPartner, newConfig } from '../harness/coins.ts'
import { countingConnection } from '../harness/counting-connection.ts'
import { asPartner, createCard, newPartner, SEARCH } from '../harness/partner.ts'
import { cancel, creditOf, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

/** What one operation may cost at most; a figure rises only with a reason that its commit gives. */
interface Cost {
  /** Sent to the database by an operation on its own; and how often it waits for the network. */
  readonly statements: number
  readonly roundTrips: number
  /** Allocated by the service, its libraries and Node for it; not by the test. */
  readonly kilobytes: number
  /** Statements for each of 64 operations at once: what batches share. */
  readonly shared: number
}

// Kilobytes have room for what differs by how much of the code is compiled by then: a third, where the file runs alone.
const COSTS: Readonly<Record<string, Cost>> = {
  'merchant token of a new second': { statements: 1, roundTrips: 1, kilobytes: 60, shared: 0.2 },
  // Of a code that is used: the merchant is notified of the refused credit, so there is an event to write.
  'accept payment': { statements: 11, roundTrips: 3, kilobytes: 200, shared: 0.8 },
  cancel: { statements: 6, roundTrips: 2, kilobytes: 160, shared: 0.7 },
  'create QR code': { statements: 8, roundTrips: 3, kilobytes: 260, shared: 0.8 },
  'show QR code': { statements: 3, roundTrips: 1, kilobytes: 250, shared: 0.4 },
  'create gift card': { statements: 18, roundTrips: 2, kilobytes: 360, shared: 1.2 },
  'search one card': { statements: 6, roundTrips: 2, kilobytes: 200, shared: 0.5 },
  // The numbers, then their events with the position behind them.
  'list events': { statements: 5, roundTrips: 2, kilobytes: 100, shared: 5 },
  'coin look-up': { statements: 3, roundTrips: 1, kilobytes: 75, shared: 0.3 },
  // What locks in steps asks for the time twice, so that what locks at once saves a round trip.
  'allocate coins': { statements: 17, roundTrips: 5, kilobytes: 330, shared: 1.2 },
}

const TIMES = 60
const AT_ONCE = 64
const USES = 10 + TIMES + AT_ONCE

const { traffic, Client: Connection } = countingConnection()
let service: TestService
let operations: Record<string, (n: number) => Promise<ApiResponse>>
beforeAll(async () => {
  service = await openService({
    Client: Connection,
    background: false,
    env: { LOG_LEVEL: 'warn', RATE_LIMIT: '0' },
  })
  const merchant = await service.newMerchant()
  const shop = await service.as(merchant)
  const { database, keyring, random } = service.app.services
  const apiKeys = await database.operate(async (tx) => {
    const made: string[] = []
    while (made.length < USES)
      made.push(
        (
          await issueApiKey(tx, { keyring, random, mode: 'test' }, merchant.merchantId, 'cost')
        ).secret.reveal(),
      )
    return made
  })
  const [open, ...codes] = await newCodes(service, shop, USES + 1)
  const partner = await newPartner(service)
  const issuer = await asPartner(service.client, partner)
  const { svcCardId } = (await createCard(issuer, partner, { loadAmount: 1 })).json.payload
  const { partner: coinPartner, client: rewarder } = await newCoinPartner(service)
  const { coinConfigId, event } = await newConfig(rewarder, {})
  const { userId, companyId } = coinPartner
  // A feed with something in it: no relay runs here.
  await asSuperuser(service.db.database, (db) => db.query('select number_events(10000, now())'))
  operations = {
    // A key for each: what one is given twice within a second costs less (decision A13).
    'merchant token of a new second': (n) =>
      service.client.send('POST', '/api/v0/merchant/token', undefined, { 'api-key': apiKeys[n]! }),
    'accept payment': () => notifyCredit(service.client, creditOf(open!.tr)),
    cancel: (n) => cancel(shop, codes[n]!.qrCodeId),
    'create QR code': () => shop.post('/api/v0/qr-code', {}),
    'show QR code': () => shop.get(`/api/v0/qr-code/${open!.qrCodeId}`),
    'create gift card': () => createCard(issuer, partner, { loadAmount: 1 }),
    'search one card': () =>
      issuer.post(SEARCH, { companyId: partner.companyId, cardAccountId: partner.cardAccountId, svcCardId }),
    'list events': () => issuer.get('/api/v0/events?limit=20'),
    'coin look-up': () => rewarder.get(`${COINS}/${coinConfigId}`),
    'allocate coins': (n) =>
      rewarder.post(`${COINS}/allocate`, { requestId: `cost-${n}`, event, userId, companyId }),
  }
})
afterAll(() => service.close())

/** Bytes that were allocated while this ran, but for those of the test's own code and of the client that it drives. */
async function allocated(work: () => Promise<void>): Promise<number> {
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: 2_048,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    } as never)
    await work()
    const { profile } = await session.post('HeapProfiler.stopSampling')
    type Node = typeof profile.head
    const sum = ({ callFrame, children, selfSize }: Node): number =>
      /undici|\/test\/|@?vitest|chai/.test(callFrame.url)
        ? 0
        : children.reduce((bytes, child) => bytes + sum(child), selfSize)
    return sum(profile.head)
  } finally {
    session.disconnect()
  }
}

test.each(Object.entries(COSTS))('%s costs no more than recorded', async (name, cost) => {
  const operation = operations[name]!
  let n = 0
  const succeed = async () => expect((await operation(n++)).status).toBeLessThan(300)
  while (n < 10) await succeed()
  traffic.clear()
  const bytes = await allocated(async () => {
    while (n < 10 + TIMES) await succeed()
  })
  // The first look of a batch at something that is kept is not sent once for each.
  const own = new Map([...traffic].filter(([, { times }]) => times >= TIMES))
  const each = (what: 'times' | 'roundTrips') =>
    [...own.values()].reduce((sum, sent) => sum + Math.floor(sent[what] / TIMES), 0)
  const seen = { statements: each('times'), roundTrips: each('roundTrips') }
  traffic.clear()
  await Promise.all(Array.from({ length: AT_ONCE }, succeed))
  const together = [...traffic].reduce((sum, [name, { times }]) => sum + (own.has(name) ? times : 0), 0)
  const shared = together / AT_ONCE
  const spent = { ...seen, kilobytes: Math.round(bytes / TIMES / 1_000), shared }
  console.log(name, spent)
  for (const what of ['statements', 'roundTrips', 'kilobytes', 'shared'] as const)
    expect(spent[what], what).toBeLessThanOrEqual(cost[what])
})
