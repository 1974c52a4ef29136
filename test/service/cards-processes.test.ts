import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcile } from '@svc/core/ledger/reconcile'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, Client, payloadOf } from '../harness/client.ts'
import { asPartner, CREATE, createCard, encryptFor, newPartner } from '../harness/partner.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const PROCESSES = 3
const CALLERS = 64
/** Promise E4 is tested with 200. */
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 3)
let service: TestService
let dataDir: string
let processes: ServiceProcess[]

beforeAll(async () => {
  service = await openService()
  dataDir = await mkdtemp(join(tmpdir(), 'svc-processes-'))
  const env = {
    SVC_MODE: 'live',
    RATE_LIMIT_PER_SECOND: '0',
    DATABASE_URL: service.db.url,
    DATABASE_OPERATOR_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
  }
  processes = await Promise.all(Array.from({ length: PROCESSES }, () => startProcess(env)))
})
afterAll(async () => {
  const ends = await Promise.all(processes.map((each) => each.end('SIGTERM')))
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
  expect(ends.map(({ code }) => code)).toEqual(ends.map(() => 0))
})

test('64 callers on three processes drain one account: as many cards as it pays for, each order with the same response everywhere, and the books balance', async () => {
  const [cards, orders, rupees] = [400, 560, 7]
  const partner = await newPartner(service, { fundsPaise: BigInt(cards * rupees * 100 + 699) })
  const callers = await Promise.all(
    processes.map(async ({ baseUrl }) => asPartner(await Client.open(baseUrl), partner)),
  )
  const { companyId, cardAccountId } = partner
  let next = 0
  const responses: ApiResponse[][] = []
  const caller = async () => {
    for (let n = next++; n < orders; n = next++) {
      // A third of the orders for holders of their own, the others share few: their making races, too.
      const mobile = String(9_000_000_000 + (n % 3 === 0 ? n : n % 20))
      const encrypted = await encryptFor(partner, {
        companyId,
        cardAccountId,
        mobile,
        loadAmount: rupees,
        address: `House ${n}`,
      })
      const key: Record<string, string> = n % 2 ? { 'idempotency-key': `order-${n}` } : {}
      // To two processes at once, like a caller who times out and tries elsewhere.
      const both = [0, 1].map((i) => callers[(n + i) % PROCESSES]!.post(CREATE, encrypted, key))
      responses.push(await Promise.all(both))
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  for (const [first, second] of responses) {
    expect([200, 422], first!.text).toContain(first!.status)
    expect([second!.status, second!.error]).toEqual([first!.status, first!.error])
    if (first!.status === 200) expect(second!.text).toBe(first!.text)
    else expect(first!.error).toBe('insufficient_funds')
  }
  const ids = responses
    .filter(([first]) => first!.status === 200)
    .map(([first]) => payloadOf(first!).svcCardId)
  expect(new Set(ids).size).toBe(cards)
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(
      `select (select count(*)::int from cards) as cards, (select sum(load_paise)::int from cards) as loaded,
        (select count(distinct mobile)::int from users where mobile is not null) as mobiles,
        (select count(mobile)::int from users) as holders,
        (select balance::int from ledger_accounts where account_id = $1) as left`,
      [`card_funding:${cardAccountId}`],
    ),
  )
  expect(rows[0]).toMatchObject({ cards, loaded: cards * rupees * 100, left: 699 })
  expect(rows[0].holders).toBe(rows[0].mobiles)
  expect((await reconcile(service.app.services.database)).ok).toBe(true)
}, 240_000)

test(`funds for 50 cards, 100 concurrent orders on three processes, ${ROUNDS} times: exactly 50 cards`, async () => {
  const open = await Promise.all(processes.map(({ baseUrl }) => Client.open(baseUrl)))
  for (let round = 0; round < ROUNDS; round++) {
    const partner = await newPartner(service, { fundsPaise: 50n * 10_00n })
    const clients = await Promise.all(open.map((client) => asPartner(client, partner)))
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        createCard(clients[n % PROCESSES]!, partner, {
          mobile: String(7_000_000_000 + n),
          loadAmount: 10,
        }),
      ),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(responses.filter(({ error }) => error === 'insufficient_funds')).toHaveLength(50)
  }
  expect((await reconcile(service.app.services.database)).ok).toBe(true)
}, 1_200_000)
