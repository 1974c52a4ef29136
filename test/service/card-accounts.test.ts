import { accountStatement } from '@svc/core/ledger/books'
import type { Tx } from '@svc/platform/db/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { passMidnight } from '../harness/business-day.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client
let outsider: Client

beforeAll(async () => {
  service = await openService()
  passMidnight(service)
  partner = await newPartner(service, { fundsPaise: 10_000_00n })
  client = await asPartner(service.client, partner)
  outsider = await asPartner(service.client, await newPartner(service))
})
afterAll(() => service.close())

const ACCOUNTS = '/api/v0/partner/card-accounts'
const path = (rest = '') => `${ACCOUNTS}/${partner.cardAccountId}${rest}`
const issue = async (loadAmount: number): Promise<Json> =>
  payloadOf(await createCard(client, partner, { loadAmount }))
const lowEvents = (): Promise<Json[]> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select payload from outbox where type = 'card_account.low' order by created_at`,
    )
    return rows.map(({ payload }) => payload as Json)
  })

test('a partner sees its card accounts with their balances, and no others', async () => {
  const { companyId, companyName, cardAccountId } = partner
  const shown = { cardAccountId, companyId, companyName, balance: 10_000 }
  expect(payloadOf(await client.get(path()))).toMatchObject(shown)
  expect(payloadOf(await client.get(ACCOUNTS))).toMatchObject({ recordsCount: 1, data: [shown] })
  expect(payloadOf(await client.get(`${ACCOUNTS}?companyId=com_other`)).data).toEqual([])
  expectFailure(await outsider.get(path()), 'card_account_not_found')
  expectFailure(await outsider.get(path('/statement')), 'card_account_not_found')
  expectFailure(await outsider.patch(path(), { lowBalance: 1 }), 'card_account_not_found')
})

test('each load that brings the balance below the threshold is one event; without a threshold there is none', async () => {
  await issue(1_000)
  expect(await lowEvents()).toEqual([])
  payloadOf(await client.patch(path(), { lowBalance: 8_500 }))
  await issue(500)
  expect(await lowEvents()).toEqual([])
  await issue(0.5 * 2)
  await issue(100)
  const { companyId, cardAccountId } = partner
  expect(await lowEvents()).toEqual([
    expect.objectContaining({ companyId, cardAccountId, balance: 8_499, lowBalance: 8_500 }),
  ])
  expect(payloadOf(await client.patch(path(), { lowBalance: null }))).not.toHaveProperty('lowBalance')
  await issue(100)
  expect(await lowEvents()).toHaveLength(1)
})

test('the denomination is the load of orders without an amount, and is within the limit of a card', async () => {
  expect(payloadOf(await client.patch(path(), { denomination: 70 })).denomination).toBe(70)
  expect(payloadOf(await createCard(client, partner)).loadAmount).toBe('70')
  expectFailure(await client.patch(path(), { denomination: 10_001 }), 'load_over_limit')
  expectFailure(await client.patch(path(), { denomination: 0.5 }), 'validation_failed')
})

test('a statement has opening and closing balance and every movement in between, as JSON and CSV', async () => {
  const { svcCardId } = await issue(200)
  const { balance } = payloadOf(await client.get(path()))
  const statement = payloadOf(await client.get(path('/statement')))
  expect(statement).toMatchObject({ openingBalance: 0, closingBalance: balance })
  expect(statement.lines[0]).toMatchObject({ kind: 'card_funding', amount: 10_000, balance: 10_000 })
  expect(statement.lines.at(-1)).toMatchObject({ kind: 'card_load', amount: -200, balance, svcCardId })
  const sum = statement.lines.reduce((total: number, { amount }: Json) => total + amount, 0)
  expect(sum).toBe(balance)
  const csv = (await client.get(path('/statement'), { accept: 'text/csv' })).text.split('\r\n')
  expect(csv).toHaveLength(statement.lines.length + 4)
  expect(csv.at(-2)).toMatch(/^\d{4}-\d\d-\d\d,closing,,\d+\.\d\d,,,$/)
  const past = payloadOf(await client.get(path('/statement?from=2020-01-01&to=2020-01-31')))
  expect(past).toMatchObject({ openingBalance: 0, closingBalance: 0, lines: [] })
  for (const query of ['from=2020-01-32', 'from=2020-02-01&to=2020-01-01', 'to=today'])
    expectFailure(await client.get(path(`/statement?${query}`)), 'validation_failed')
})

test('a statement is of one instant: balances and movements agree, whatever is posted while it is read', async () => {
  const days = 86_400_000
  const period = { from: new Date(Date.now() - days), to: new Date(Date.now() + days), limit: 1_000 }
  const found = await service.app.services.database.read([partner.partnerId], (tx) => {
    // After each statement another card is loaded.
    const query: Tx['query'] = async (statement, values) => {
      const rows = await tx.query(statement, values)
      await issue(10)
      return rows
    }
    return accountStatement({ query } as Tx, {
      accountId: `card_funding:${partner.cardAccountId}`,
      ...period,
    })
  })
  const { opening, closing, lines } = found!
  expect(lines.at(-1)!.balance).toBe(closing)
  expect(lines.reduce((sum, { credit, debit }) => sum + credit - debit, opening)).toBe(closing)
})

test('the exact balance of a card is in rupees to the paisa, with the amount held', async () => {
  const { svcCardId } = await issue(100)
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 0.01, channel: 'pos' }))
  payloadOf(
    await service.client.post(`/sandbox/cards/${svcCardId}/messages`, {
      type: 'authorization',
      amount: 10.5,
    }),
  )
  const balance = await client.get(`/api/v0/partner/svcCard/${svcCardId}/balance`)
  expect(payloadOf(balance)).toMatchObject({ svcCardId, balance: 99.99, held: 10.5, openToBuy: 89.49 })
  expectFailure(await outsider.get(`/api/v0/partner/svcCard/${svcCardId}/balance`), 'card_not_found')
})
