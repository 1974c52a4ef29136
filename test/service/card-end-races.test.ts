import { checkInvariants } from '@svc/console-api/invariants'
import { endDueCards } from '@svc/core/cards/end/end-card'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { type ServiceProcess, startProcesses } from '../harness/processes.ts'
import { asSuperuser, CARD_RAIL_KEY, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const ROUNDS = 12

let service: TestService
let other: ServiceProcess
let otherClient: Client
let partner: TestPartner
let issuer: Client
let otherIssuer: Client

beforeAll(async () => {
  service = await openService()
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, CARD_RAIL_KEYS: CARD_RAIL_KEY }
  ;[other] = (await startProcesses(1, env, service.app.services.config.DATA_DIR)) as [ServiceProcess]
  otherClient = await Client.open(other.baseUrl)
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
  otherIssuer = await asPartner(otherClient, partner)
})
afterAll(async () => {
  await other?.end('SIGTERM')
  const broken = (await checkInvariants(service.app.services.database)).flatMap(({ name, violations }) =>
    violations.length > 0 ? [name] : [],
  )
  await service.close()
  expect(broken).toEqual([])
})

const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const card = async (svcCardId: string): Promise<Json> => payloadOf(await issuer.get(path(svcCardId)))
const newCard = async (): Promise<Json> => payloadOf(await createCard(issuer, partner, { loadAmount: 100 }))
const block = (svcCardId: string) =>
  issuer.patch(path(svcCardId, '/status'), { status: 'BL', reason: 'lost' })
const rounds = <T>(round: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: ROUNDS }, (_, n) => round(n)))

test('a replacement concurrent with an authorisation, from two processes: the amount is held on one card, and spent once', async () => {
  await rounds(async () => {
    const { svcCardId, token } = await newCard()
    const terminal = new Terminal(otherClient, token)
    const [replaced, authorized] = await Promise.all([
      issuer.post(path(svcCardId, '/replace'), { reason: 'lost' }),
      terminal.authorize(60),
    ])
    const made = payloadOf(replaced)
    // The hold came first and stays on the old card, or it came too late.
    expect([authorized.status, made.accountBalance]).toEqual(
      authorized.status === 'approved' ? ['approved', 40] : ['declined', 100],
    )
    const old = await card(svcCardId)
    expect(old.accountBalance + made.accountBalance).toBe(100)
    expect(old.otbBalance).toBe(0)
  })
})

test('two replacements of a card from two processes create one card', async () => {
  await rounds(async () => {
    const { svcCardId } = await newCard()
    const both = await Promise.all([
      issuer.post(path(svcCardId, '/replace'), { reason: 'lost' }),
      otherIssuer.post(path(svcCardId, '/replace'), { reason: 'lost' }),
    ])
    expect(payloadOf(both[0]).svcCardId).toBe(payloadOf(both[1]).svcCardId)
  })
})

test('a return concurrent with a forced post, from two processes: each rupee is spent or returned, never both', async () => {
  await rounds(async () => {
    const { svcCardId, token } = await newCard()
    payloadOf(await block(svcCardId))
    const [returned, spent] = await Promise.all([
      issuer.post(path(svcCardId, '/return'), { consentReference: 'letter' }),
      new Terminal(otherClient, token).advise('forced_post', 30),
    ])
    const amount = payloadOf(returned).amount
    expect([amount, spent.debitedAmount]).toEqual(amount === 100 ? [100, undefined] : [70, 30])
    expect((await card(svcCardId)).accountBalance).toBe(0)
  })
})

test('a return concurrent with a replacement: one of them gets the money', async () => {
  await rounds(async () => {
    const { svcCardId } = await newCard()
    payloadOf(await block(svcCardId))
    const [returned, replaced] = await Promise.all([
      issuer.post(path(svcCardId, '/return'), { consentReference: 'letter' }),
      otherIssuer.post(path(svcCardId, '/replace'), { reason: 'lost' }),
    ])
    const outcomes = [
      returned.status === 200 ? 'done' : returned.error,
      replaced.status === 200 ? 'done' : replaced.error,
    ]
    expect(['done,return_waiting', 'nothing_left,done']).toContain(String(outcomes))
  })
})

test('the end of a waiting period in two processes at once returns the money once', async () => {
  const cards = await rounds(async () => {
    const { svcCardId } = await newCard()
    payloadOf(await block(svcCardId))
    payloadOf(await issuer.post(path(svcCardId, '/return'), { consentReference: 'letter' }))
    return svcCardId as string
  })
  await asSuperuser(service.db.database, async (db) => {
    await db.query('update card_returns set due_at = now() where svc_card_id = any ($1)', [cards])
    await db.query('update cards set due_at = now() where svc_card_id = any ($1)', [cards])
  })
  await Promise.all([endDueCards(service.app.services), endDueCards(service.app.services)])
  for (const svcCardId of cards) {
    const { returns } = payloadOf(await issuer.get(path(svcCardId, '/end')))
    expect(returns).toMatchObject([{ status: 'RETURNED', amount: 100 }])
  }
})
