import { checkInvariants } from '@svc/console-api/invariants'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundsOf } from '../harness/approvals.ts'
import { done, uploadLoads } from '../harness/bulk.ts'
import { Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

// A year of an employee-rewards programme, on its partner's test clock.
let service: TestService
beforeAll(async () => {
  service = await openService({
    env: { CARD_VALIDITY_MONTHS: '12', CARD_LOAD_LIMITS: 'default=10000/10000/10000/20000' },
  })
})
afterAll(() => service.close())

const FUNDS = 1_000_000_00
const DAY_MS = 86_400_000
/** What each card is allocated in a month, in paise. */
const MONTHLY = [1000_00, 1000_50, 999_75]
const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const whole = (paise: number): number => Math.floor(paise / 100)
/** What a period spent, less what came back in it; never below nothing. */
const used = (paise: number): number => Math.max(0, paise) / 100

/** One card, as its messages and movements say that it is; in paise. */
class Expected {
  readonly svcCardId: string
  /** All fields of both records, as they were at first. */
  readonly first: { readonly record: Json; readonly found: Json }
  loaded: number
  last: number
  unloaded = 0
  held = 0
  returning = 0
  returned = 0
  isUnloadable = true
  readonly spent: { readonly at: Date; readonly paise: number }[] = []

  constructor(record: Json, found: Json, loaded: number) {
    this.svcCardId = record.svcCardId
    this.first = { record, found }
    this.loaded = loaded
    this.last = loaded
  }

  load(paise: number): void {
    this.loaded += paise
    this.last = paise
  }

  get balance(): number {
    return this.loaded - this.unloaded - this.returning - this.returned - this.#since('')
  }

  /** Spent since a day, of which only the beginning may be given. */
  #since(period: string): number {
    return this.spent
      .filter(({ at }) => dayOf(at).startsWith(period))
      .reduce((sum, { paise }) => sum + paise, 0)
  }

  /** The fields of the record that move, at this time of the partner. */
  fields(now: Date): object {
    const day = dayOf(now)
    return {
      accountBalance: whole(this.balance),
      otbBalance: whole(Math.max(0, this.balance - this.held)),
      lastAllocatedAmount: whole(this.last),
      limitAllocatedLtd: (this.loaded - this.unloaded) / 100,
      usedDtd: used(this.#since(day)),
      usedMtd: used(this.#since(day.slice(0, 7))),
      usedYtd: used(this.#since(day.slice(0, 4))),
      usedLtd: used(this.#since('')),
      holdBalance: this.held / 100,
      unAllocateHoldBalance: this.returning / 100,
      unallocateFundAllowed: this.isUnloadable,
    }
  }

  rewards(): object {
    return { totalRewardsReceived: this.loaded / 100, rewardPointsReceived: whole(this.loaded) }
  }
}

/** The business day of an instant. */
const dayOf = (at: Date): string => new Date(at.getTime() + 5.5 * 3_600_000).toISOString().slice(0, 10)

class Programme {
  readonly partner: TestPartner
  client: Client
  now: Date
  readonly cards: Expected[] = []

  constructor(partner: TestPartner, client: Client, now: Date) {
    this.partner = partner
    this.client = client
    this.now = now
  }

  /** Moves the partner's clock, which expires what is due on the way. */
  async to(at: Date): Promise<void> {
    const clock = `/sandbox/tenants/${this.partner.partnerId}/clock/advance`
    payloadOf(await service.client.post(clock, { to: at.toISOString() }))
    this.now = at
    this.client = await asPartner(service.client, this.partner)
  }

  async read(svcCardId: string): Promise<{ record: Json; found: Json }> {
    const { companyId, cardAccountId } = this.partner
    const search = { companyId, cardAccountId, svcCardId }
    const [record, found] = await Promise.all([
      this.client.get(path(svcCardId)),
      this.client.post('/api/v0/partner/svcCard/search', search),
    ])
    return { record: payloadOf(record), found: payloadOf(found).data[0] }
  }

  /** Every field of both records of every card is what it was at first, or what has become of it. */
  async check(): Promise<void> {
    const read = await Promise.all(this.cards.map(({ svcCardId }) => this.read(svcCardId)))
    for (const [i, card] of this.cards.entries()) {
      const moved = card.fields(this.now)
      const { record, found } = read[i]!
      expect(record, dayOf(this.now)).toEqual({ ...card.first.record, ...moved })
      expect(found, dayOf(this.now)).toEqual({ ...card.first.found, ...moved, ...card.rewards() })
    }
  }

  /** What the card account has, by what its cards say. */
  async checkAccount(): Promise<void> {
    const net = this.cards.reduce(
      (sum, { loaded, unloaded, returned }) => sum + loaded - unloaded - returned,
      0,
    )
    expect(await fundsOf(service, this.partner)).toBe(String(FUNDS - net))
  }
}

async function newProgramme(): Promise<Programme> {
  const partner = await newPartner(service, { accountType: 'EMPLOYEE_REWARDS', fundsPaise: BigInt(FUNDS) })
  const today = new Date(service.clock.now())
  const programme = new Programme(partner, await asPartner(service.client, partner), today)
  await programme.to(new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 2, 6)))
  const account = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
  payloadOf(await programme.client.patch(account, { unallocateFundAllowed: true }))
  for (const mobile of ['9000000001', '9000000002']) {
    const order = { loadAmount: 1000, mobile, firstName: 'Asha' }
    const { svcCardId } = payloadOf(await createCard(programme.client, partner, order))
    const { record, found } = await programme.read(svcCardId)
    programme.cards.push(new Expected(record, found, 1000_00))
  }
  return programme
}

/** The allocation of a month: one upload for all cards. */
async function allocate(programme: Programme, month: number): Promise<void> {
  const paise = MONTHLY[month % 3]!
  const lines = programme.cards.map(({ svcCardId }, i) => ({
    svcCardId,
    amount: paise / 100,
    referenceNumber: `month-${month}-${i}`,
  }))
  const { jobId } = payloadOf(await uploadLoads(programme.client, lines))
  expect(await done(programme.client, jobId)).toMatchObject({ loaded: lines.length })
  for (const card of programme.cards) card.load(paise)
}

/** A purchase that is captured for less, and in some months one that never is, or that is returned. */
async function use(programme: Programme, month: number): Promise<void> {
  const [card] = programme.cards as [Expected]
  const terminal = new Terminal(service.client, card.first.record.token)
  const { authorizationId } = await terminal.authorize(300)
  card.held = 300_00
  await programme.check()
  const { messageId: captureId } = await terminal.capture(250.25, { authorizationId, final: true })
  card.held = 0
  card.spent.push({ at: programme.now, paise: 250_25 })
  if (month % 4 === 0) {
    expect(await terminal.refund(50.5, { captureId })).toMatchObject({ creditedAmount: 50.5 })
    card.spent.push({ at: programme.now, paise: -50_50 })
  }
  if (month % 3 === 0) {
    expect(await terminal.authorize(75)).toMatchObject({ status: 'approved' })
    card.held = 75_00
  }
  await programme.check()
}

/** What was allocated by mistake is taken back, where the card account says so. */
async function takeBack(programme: Programme, month: number): Promise<void> {
  const [, card] = programme.cards as [Expected, Expected]
  const account = `/api/v0/partner/card-accounts/${programme.partner.cardAccountId}`
  const isAllowed = month % 2 === 1
  payloadOf(await programme.client.patch(account, { unallocateFundAllowed: isAllowed }))
  for (const one of programme.cards) one.isUnloadable = isAllowed
  const unload = { amount: 120.1, referenceNumber: `back-${month}` }
  const response = await programme.client.post(path(card.svcCardId, '/unloads'), unload)
  if (isAllowed) {
    payloadOf(response)
    card.unloaded += 120_10
  } else expectFailure(response, 'unload_not_allowed')
  await programme.check()
}

test('over a year of allocations, purchases, refunds, holds that expire, unloads and the end of the cards, every field of both records is what has become of it', async () => {
  const programme = await newProgramme()
  const { cards } = programme
  await programme.check()
  for (let month = 0; month < 12; month++) {
    if (month > 0) {
      const { now } = programme
      await programme.to(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2, 6)))
      // What was held in the month before has expired.
      for (const card of cards) card.held = 0
      await allocate(programme, month)
      await programme.check()
    }
    await use(programme, month)
    if (month % 3 === 1) await takeBack(programme, month)
    await programme.checkAccount()
  }
  await programme.to(new Date(programme.now.getTime() + DAY_MS))
  await programme.check()
  await expire(programme)
  const broken = (await checkInvariants(service.app.services.database)).filter(
    ({ violations }) => violations.length > 0,
  )
  expect(broken).toEqual([])
}, 240_000)

/** The cards expire with what is left on them, which waits to return to the card account, and does. */
async function expire(programme: Programme): Promise<void> {
  const { cards } = programme
  const { expiryYear, expiryMonth, token } = cards[0]!.first.record
  await programme.to(new Date(Date.UTC(Number(expiryYear), Number(expiryMonth), 2, 6)))
  for (const card of cards) card.held = 0
  await programme.check()
  expect(await new Terminal(service.client, token).authorize(1)).toMatchObject({ reason: 'card_expired' })
  for (const card of cards) {
    const load = { amount: 1, referenceNumber: `late-${card.svcCardId}` }
    expectFailure(await programme.client.post(path(card.svcCardId, '/loads'), load), 'card_ended')
    const consent = { consentReference: `letter-${card.svcCardId}` }
    expect(card.balance).toBeGreaterThan(0)
    payloadOf(await programme.client.post(path(card.svcCardId, '/return'), consent))
    card.returning = card.balance
  }
  await programme.check()
  await programme.to(new Date(programme.now.getTime() + 8 * DAY_MS))
  for (const card of cards) {
    card.returned = card.returning
    card.returning = 0
  }
  await programme.check()
  await programme.checkAccount()
  expect(cards.map(({ balance }) => balance)).toEqual([0, 0])
}
