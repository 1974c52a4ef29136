import { checkInvariants } from '@svc/console-api/invariants'
import { readCardStatement } from '@svc/core/cards/card/card-statement'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { accountStatement } from '@svc/core/ledger/books'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let issuer: Client
let outsider: Client

beforeAll(async () => {
  service = await openService({ background: false })
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
  outsider = await asPartner(service.client, await newPartner(service))
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await service.close()
  expect(broken).toEqual([])
})

const path = (svcCardId: string, rest: string) => `/api/v0/partner/svcCard/${svcCardId}/${rest}`
const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])

async function newCard(order: object = {}): Promise<{ svcCardId: string; terminal: Terminal }> {
  const { svcCardId, token } = payloadOf(await createCard(issuer, partner, order))
  return { svcCardId, terminal: new Terminal(service.client, token) }
}

/** All transactions of a card, oldest first, by pages of two. */
async function transactionsOf(svcCardId: string): Promise<Json[]> {
  const found: Json[] = []
  for (let after = ''; ; ) {
    const { data, next } = payloadOf(await issuer.get(path(svcCardId, `transactions?limit=2${after}`)))
    found.push(...data)
    if (next === undefined) return found.toReversed()
    after = `&after=${next}`
  }
}

const statementOf = async (svcCardId: string): Promise<Json> =>
  payloadOf(await issuer.get(path(svcCardId, 'statement')))

const SHOP = { merchantName: 'Corner Shop', merchantPlace: 'Pune', mcc: '5411', rrn: '633412000001' }

test('what a terminal does is listed with its state, the balance after it, its merchant and its references', async () => {
  const { svcCardId, terminal } = await newCard()
  const identity = newIdentity()
  const { authorizationId } = await terminal.authorize(120.5, { ...SHOP, ...identity })
  const { messageId } = await terminal.capture(100.25, { authorizationId, ...SHOP })
  await terminal.refund(0.25, { captureId: messageId, ...SHOP })
  const [load, authorization, capture, refund, ...more] = await transactionsOf(svcCardId)
  expect(more).toEqual([])
  expect(load).toMatchObject({
    kind: 'load',
    status: 'completed',
    amount: 500,
    direction: 'credit',
    balance: 500,
  })
  expect(authorization).toEqual({
    cardTransactionId: expect.stringMatching(/^ctx_/),
    svcCardId,
    cardAccountId: partner.cardAccountId,
    companyId: partner.companyId,
    kind: 'authorization',
    status: 'partly_captured',
    amount: 120.5,
    responseCode: '00',
    capturedAmount: 100.25,
    heldAmount: 20.25,
    holdExpiresOn: expect.stringMatching(/\+05:30$/),
    channel: 'pos',
    ...SHOP,
    acquirerId: '400123',
    stan: identity.stan,
    authorizationId,
    authorizationCode: expect.stringMatching(/^\d{6}$/),
    messageId: expect.stringMatching(/^cmg_/),
    transmissionTime: expect.any(String),
    createdOn: expect.any(String),
  })
  expect(Date.parse(authorization!.transmissionTime)).toBe(Date.parse(identity.transmissionTime))
  expect(capture).toMatchObject({
    kind: 'capture',
    status: 'completed',
    amount: 100.25,
    direction: 'debit',
    balance: 399.75,
    authorizationId,
    messageId,
    ...SHOP,
  })
  expect(capture).not.toHaveProperty('heldAmount')
  expect(refund).toMatchObject({
    kind: 'refund',
    direction: 'credit',
    amount: 0.25,
    balance: 400,
    captureId: messageId,
  })
})

test('an authorisation has the state that became of it', async () => {
  const { svcCardId, terminal } = await newCard()
  const hold = async (amount: number) => {
    const { authorizationId } = await terminal.authorize(amount)
    return { authorizationId }
  }
  await hold(1)
  await terminal.capture(1, { ...(await hold(2)) })
  await terminal.capture(3, { ...(await hold(3)) })
  await terminal.void(await hold(4))
  const expiring = await hold(5)
  await sql('update card_authorizations set expires_at = now() where authorization_id = $1', [
    expiring.authorizationId,
  ])
  await expireCardHolds(service.app.services)
  await terminal.authorize(900)
  await terminal.authorize(0)
  const early = newIdentity()
  await terminal.capture(6, { ...early, final: true })
  await terminal.authorize(6, early)
  await terminal.advise('stand_in', 7)
  const states = (await transactionsOf(svcCardId)).flatMap(
    ({ kind, amount, status, responseCode, reason }) =>
      kind === 'authorization' ? [[amount, status, responseCode, reason]] : [],
  )
  expect(states).toEqual([
    [1, 'pending', '00', undefined],
    [2, 'partly_captured', '00', undefined],
    [3, 'captured', '00', undefined],
    [4, 'voided', '00', undefined],
    [5, 'expired', '00', undefined],
    [900, 'declined', '51', 'insufficient_funds'],
    [0, 'verified', '85', undefined],
    [6, 'captured', '00', undefined],
    [7, 'pending', '00', undefined],
  ])
  for (const status of new Set(states.map((state) => state[1] as string))) {
    const query = new URLSearchParams({ svcCardId, status })
    const found = payloadOf(await issuer.get(`/api/v0/partner/card-transactions?${query}`)).data
    expect(found.map(({ amount }: Json) => amount).toReversed()).toEqual(
      states.filter((state) => state[1] === status).map(([amount]) => amount),
    )
  }
})

test('what a replacement takes, what waits unclaimed and what returns to the card account are transactions of the card', async () => {
  const { svcCardId, terminal } = await newCard()
  const { authorizationId } = await terminal.authorize(20)
  const { messageId: captureId } = await terminal.capture(20, { authorizationId })
  const { svcCardId: replacement } = payloadOf(
    await issuer.post(path(svcCardId, 'replace'), { reason: 'lost' }),
  )
  payloadOf(await issuer.patch(path(replacement, 'status'), { status: 'BL', reason: 'not wanted' }))
  const { returnId } = payloadOf(
    await issuer.post(path(replacement, 'return'), { consentReference: 'letter-1' }),
  )
  expect(returnId).toEqual(expect.stringMatching(/^crt_/))
  const facts = async (of: string) =>
    (await transactionsOf(of)).map(({ kind, direction, amount, balance }) => [
      kind,
      direction,
      amount,
      balance,
    ])
  expect((await facts(svcCardId)).slice(2)).toEqual([
    ['capture', 'debit', 20, 480],
    ['replacement', 'debit', 480, 0],
  ])
  expect(await facts(replacement)).toEqual([
    ['replacement', 'credit', 480, 480],
    ['unclaimed', 'debit', 480, 0],
  ])
  await terminal.refund(5, { captureId })
  expect((await facts(svcCardId)).at(-1)).toEqual(['refund', 'credit', 5, 5])
})

const step = fc.record({
  type: fc.constantFrom(
    'authorize',
    'capture',
    'void',
    'refund',
    'forced_post',
    'stand_in',
    'spend',
    'expire',
  ),
  paise: fc.integer({ min: 1, max: 30_000 }),
  /** Which of the earlier authorisations or captures it names. */
  of: fc.nat(7),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Played {
  readonly svcCardId: string
  readonly terminal: Terminal
  readonly authorizationIds: string[]
  readonly captureIds: string[]
}

const oneOf = (ids: readonly string[], of: number): string | undefined => ids[of % Math.max(1, ids.length)]

async function play(
  { svcCardId, terminal, authorizationIds, captureIds }: Played,
  { type, paise, of }: Step,
) {
  const amount = paise / 100
  const authorizationId = oneOf(authorizationIds, of)
  const held = authorizationId === undefined ? {} : { authorizationId }
  if (type === 'authorize') {
    const made = await terminal.authorize(amount)
    if (made.authorizationId !== undefined) authorizationIds.push(made.authorizationId)
  } else if (type === 'capture') captureIds.push((await terminal.capture(amount, held)).messageId)
  else if (type === 'void') await terminal.void(held)
  else if (type === 'refund') await terminal.refund(amount, { captureId: oneOf(captureIds, of) })
  else if (type === 'spend')
    await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount, channel: 'pos' })
  else if (type === 'expire') {
    await sql('update card_authorizations set expires_at = now() where authorization_id = $1', [
      authorizationId,
    ])
    await expireCardHolds(service.app.services)
  } else await terminal.advise(type, amount, type === 'forced_post' ? held : {})
}

/** Paise of a number of rupees. */
const paiseOf = (rupees: number): bigint => BigInt(Math.round(rupees * 100))

/** The statement of the API, and that of the ledger's own account, of the same instants. */
async function bothStatements(svcCardId: string, from: Date, to: Date) {
  const { database } = service.app.services
  const limit = 1_000
  return database.read([partner.partnerId], async (tx) => ({
    ours: (await readCardStatement(tx, { partnerId: partner.partnerId, svcCardId, from, to, limit }))!,
    ledger: (await accountStatement(tx, { accountId: `card:${svcCardId}`, from, to, limit }))!,
  }))
}

test('whatever the network does, statement and list equal the ledger to the paisa, for any period', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
      async (bursts) => {
        const played = { ...(await newCard()), authorizationIds: [], captureIds: [] }
        const { svcCardId } = played
        // What is in one burst may be decided in one batch.
        for (const burst of bursts) await Promise.all(burst.map((each) => play(played, each)))
        const [statement, listed] = [await statementOf(svcCardId), await transactionsOf(svcCardId)]
        const [account] = await sql<{ balance: string }>(
          'select balance from ledger_accounts where account_id = $1',
          [`card:${svcCardId}`],
        )
        expect(paiseOf(statement.openingBalance)).toBe(0n)
        expect(paiseOf(statement.closingBalance)).toBe(BigInt(account!.balance))
        let balance = 0n
        for (const { amount, direction, balance: after } of statement.lines) {
          balance += direction === 'credit' ? paiseOf(amount) : -paiseOf(amount)
          expect(paiseOf(after)).toBe(balance)
        }
        expect(balance).toBe(BigInt(account!.balance))
        expect(statement.lines).toEqual(listed.filter(({ direction }) => direction !== undefined))
        const times = listed.map(({ createdOn }) => new Date(createdOn))
        for (const from of times) {
          const { ours, ledger } = await bothStatements(
            svcCardId,
            from,
            new Date(times.at(-1)!.getTime() + 1),
          )
          expect([ours.opening, ours.closing]).toEqual([ledger.opening, ledger.closing])
          expect(ours.lines.map(({ transferId, after }) => [transferId, after])).toEqual(
            ledger.lines.map((line) => [line.transferId, line.balance]),
          )
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('a statement as CSV has the same lines between its two balances', async () => {
  const { svcCardId, terminal } = await newCard()
  await terminal.capture(12.5, { merchantName: '=Shop, "Corner"' })
  const { lines } = await statementOf(svcCardId)
  const { text, headers } = await issuer
    .with({ accept: 'text/csv' })
    .get(path(svcCardId, 'statement?from=2026-01-01'))
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  const rows = text.trimEnd().split('\r\n')
  expect(rows[0]).toMatch(/^createdOn,transmissionTime,kind,amount,balance,merchantName/)
  expect(rows[1]).toMatch(/^2026-01-01,,opening,,0\.00/)
  expect(rows[2]).toContain(`${lines[0].createdOn},,load,500.00,500.00`)
  expect(rows[3]).toContain(',capture,-12.50,487.50,"\'=Shop, ""Corner"""')
  expect(rows.at(-1)).toMatch(/,,closing,,487\.50/)
  expect(rows).toHaveLength(5)
})

test('transactions and statements of others are those of a card that does not exist', async () => {
  const { svcCardId, terminal } = await newCard()
  await terminal.authorize(1, SHOP)
  for (const rest of ['transactions', 'statement', 'statement.pdf']) {
    expectFailure(await outsider.get(path(svcCardId, rest)), 'card_not_found')
    expectFailure(await issuer.get(path('card_nothing', rest)), 'card_not_found')
  }
  const { companyId, cardAccountId } = partner
  const ofCard = [
    {},
    { svcCardId },
    { companyId },
    { cardAccountId },
    { merchantName: 'corner shop' },
    { amount: '1' },
  ]
  for (const query of ofCard) {
    const url = `/api/v0/partner/card-transactions?${new URLSearchParams(query as Record<string, string>)}`
    expect(payloadOf(await outsider.get(url)).data).toEqual([])
    const found = payloadOf(await issuer.get(url)).data as Json[]
    expect(found.map((each) => each.svcCardId)).toContain(svcCardId)
  }
  const operator = await signedIn(service, 'auditor')
  const { json } = await operator.get(`/card-transactions?svcCardId=${svcCardId}`)
  expect(json.data.map(({ partnerId }: Json) => partnerId)).toEqual([partner.partnerId, partner.partnerId])
  expect((await operator.get('/card-transactions?amount=1')).status).toBe(400)
  expect((await operator.get(`/card-transactions?amount=1&partnerId=${partner.partnerId}`)).status).toBe(200)
})

test.each(['svc_service', 'svc_operator'])('the login %s writes no transaction', async (login) => {
  await asSuperuser(service.db.database, async (db) => {
    await db.query(`set role ${login}`)
    for (const change of ['delete from card_transactions', 'update card_transactions set amount_paise = 1'])
      await expect(db.query(change)).rejects.toMatchObject({ code: '42501' })
  })
})
