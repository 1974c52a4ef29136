import { fundAccount } from '@svc/core/cards/account/fund-account'
import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { carriedOut, WaitingApproval } from '@svc/core/ledger/money-command'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byTwo } from '../harness/approvals.ts'
import {
  fundsOf,
  newTransferUtr,
  notifyTransfer,
  numberOf,
  reverseEntry,
  transferTo,
  withdraw,
} from '../harness/bank-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { fundCardAccount } from '../harness/fund-card-account.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  const env = { APPROVAL_ABOVE_RUPEES: '1000' }
  service = await openService({ env })
  other = await openService({ db: service.db, background: false, env })
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as Row[])
const cli = (...args: string[]) =>
  runHere(['admin', ...args], { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY })
/** More than the limit of approvals, so without an operator's funding. */
const withFunds = (fundsPaise: bigint): Promise<TestPartner> => newPartner(service, { fundsPaise })

test('the remaining balance is paid back once for each reference, never more than the balance, and is in the statement', async () => {
  const partner = await withFunds(500_00n)
  const reference = newTransferUtr()
  const spelled = `${reference.slice(0, 4).toLowerCase()}-${reference.slice(4)}`
  const first = await withdraw(service, partner, 300_00n, reference)
  const again = await withdraw(other, partner, 300_00n, spelled)
  expect(again.transfer.transferId).toBe(first.transfer.transferId)
  expect((await fundsOf(service, partner)).balance).toBe('20000')
  const refused = { code: 'withdrawal_reference_used' }
  await expect(withdraw(service, partner, 1_00n, reference)).rejects.toMatchObject(refused)
  await expect(withdraw(service, partner, 200_01n)).rejects.toMatchObject({ code: 'insufficient_funds' })
  await withdraw(service, partner, 200_00n)
  const client = await asPartner(service.client, partner)
  const path = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
  const { lines } = payloadOf(await client.get(`${path}/statement`))
  expect(lines).toMatchObject([
    { kind: 'card_funding', balance: 500 },
    { kind: 'card_withdrawal', amount: -300, balance: 200, reference },
    { kind: 'card_withdrawal', amount: -200, balance: 0 },
  ])
  await expect
    .poll(async () => payloadOf(await client.get('/api/v0/events')).data)
    .toMatchObject([
      { type: 'card_account.withdrawn', data: { amount: 300, balance: 200, reference } },
      { type: 'card_account.withdrawn', data: { amount: 200, balance: 0 } },
    ])
})

test('a withdrawal and an order for the last rupee, in two processes: one of them gets it', async () => {
  const partner = await withFunds(0n)
  const clients = [await asPartner(service.client, partner), await asPartner(other.client, partner)]
  for (let round = 0; round < 20; round++) {
    await refill(partner)
    const [paid, ordered] = await Promise.all([
      withdraw(round % 2 ? service : other, partner, 100_00n, undefined, `operator ${round}`).then(
        () => 'paid back',
        ({ code }: { code: string }) => code,
      ),
      createCard(clients[round % 2]!, partner, { loadAmount: '100' }),
    ])
    const isOrdered = ordered.status === 200
    if (!isOrdered) expect(ordered.error).toBe('insufficient_funds')
    expect(paid).toBe(isOrdered ? 'insufficient_funds' : 'paid back')
    expect((await fundsOf(service, partner)).balance).toBe('0')
  }
})

async function refill({ partnerId, cardAccountId }: TestPartner): Promise<void> {
  const { database, random } = service.app.services
  await database.operate(async (tx) => {
    const funded = { partnerId, cardAccountId } as Parameters<typeof fundCardAccount>[2]
    const amount = 100_00n as Parameters<typeof fundCardAccount>[3]
    await fundCardAccount(tx, { random, timeZone: 'Asia/Kolkata' }, funded, amount)
  })
}

test('two processes that enter one withdrawal at once enter it once', async () => {
  const partner = await withFunds(500_00n)
  for (let round = 1; round <= 10; round++) {
    const reference = newTransferUtr()
    const both = await Promise.all(
      [service, other, service, other].map((each) => withdraw(each, partner, 1_00n, reference)),
    )
    expect(new Set(both.map(({ transfer }) => transfer.transferId)).size).toBe(1)
    expect((await fundsOf(service, partner)).balance).toBe(String(500_00 - round * 100))
  }
})

test('above the limit a withdrawal waits for a second person, and the database rejects one without', async () => {
  const partner = await withFunds(900_00n)
  for (let times = 0; times < 6; times++) await refill(partner)
  const [asha, ravi] = [await signedIn(service, 'finance'), await signedIn(service, 'finance')]
  const path = `/card-accounts/${partner.cardAccountId}/withdrawals`
  const requested = { amount: '1000.01', reference: newTransferUtr(), reason: 'contract ended' }
  await expect(withdraw(service, partner, 1_000_01n)).rejects.toThrow()
  expect((await fundsOf(service, partner)).balance).toBe('150000')
  const waiting = await asha.post(path, requested)
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'card_withdrawal', amount: '1000.01' } })
  const { approvalId } = waiting.json
  expect((await asha.post(`/approvals/${approvalId}/approve`, {})).error).toBe('approval_same_person')
  expect((await ravi.post(`/approvals/${approvalId}/approve`, {})).json.status).toBe('POSTED')
  expect((await fundsOf(service, partner)).balance).toBe('49999')
  const small = { ...requested, amount: '499.99', reference: newTransferUtr() }
  expect((await asha.post(path, small)).json).toMatchObject({ amount: '499.99', balance: '0.00' })
  const viewer = await signedIn(service, 'viewer')
  expect((await viewer.post(path, small)).status).toBe(403)
})

test('a repeat of a withdrawal reports that it was entered before, above the limit too, and waits for no second person', async () => {
  const partner = await withFunds(900_00n)
  for (let times = 0; times < 2; times++) await refill(partner)
  const [asha, ravi] = [await signedIn(service, 'finance'), await signedIn(service, 'finance')]
  const path = `/card-accounts/${partner.cardAccountId}/withdrawals`
  const requested = { amount: '1000.01', reference: newTransferUtr(), reason: 'contract ended' }
  const { approvalId } = (await asha.post(path, requested)).json
  expect((await ravi.post(`/approvals/${approvalId}/approve`, {})).json.status).toBe('POSTED')
  const repeat = { status: 200, json: { isRepeat: true, amount: '1000.01', balance: '99.99' } }
  expect(await asha.post(path, requested)).toMatchObject(repeat)
  expect((await fundsOf(service, partner)).balance).toBe('9999')
  const small = { ...requested, amount: '1.00', reference: newTransferUtr() }
  for (const isRepeat of [false, true])
    expect((await asha.post(path, small)).json).toMatchObject({ isRepeat, balance: '98.99' })
})

test('an incorrectly entered withdrawal is reversed, and its reference may be entered again', async () => {
  const partner = await withFunds(50_00n)
  const reference = newTransferUtr()
  const { transfer } = await withdraw(service, partner, 30_00n, reference)
  const journalId = `jrn_${transfer.transferId.slice(4)}`
  const reversal = await operatorsOf(service.app.services.commands)
    .open(reverseJournal)
    .run(
      { tenantId: partner.partnerId, journalId, reason: 'typed wrongly' },
      { actor: 'asha', target: journalId },
    )
  // The money has left the bank: taking that back takes two people at any amount.
  expect(reversal).toBeInstanceOf(WaitingApproval)
  await byTwo(service, reversal)
  expect((await fundsOf(service, partner)).balance).toBe('5000')
  await withdraw(service, partner, 40_00n, reference)
  expect((await fundsOf(service, partner)).balance).toBe('1000')
})

test('the reversal of a funding and of a withdrawal is an event with the balance after it and what it reverses', async () => {
  const partner = await withFunds(50_00n)
  const [funding, withdrawal] = [newTransferUtr(), newTransferUtr()]
  const { partnerId, cardAccountId } = partner
  const { transfer: funded } = carriedOut(
    await operatorsOf(service.app.services.commands)
      .open(fundAccount)
      .run(
        { partnerId, cardAccountId, amountPaise: paise(20_00n), reference: funding, reason: 'float' },
        { actor: 'asha', target: cardAccountId },
      ),
  )
  const { transfer: withdrawn } = await withdraw(service, partner, 30_00n, withdrawal)
  for (let times = 0; times < 2; times++)
    for (const reference of [withdrawal, funding]) await reverseEntry(service, partner, reference)
  const events = await sql<Json>(
    `select type, payload from outbox where tenant_id = $1 and type like 'card_account.%_reversed' order by created_at`,
    [partnerId],
  )
  const common = { cardAccountId, companyId: partner.companyId, createdOn: expect.any(String) }
  expect(events).toEqual([
    {
      type: 'card_account.withdrawal_reversed',
      payload: {
        ...common,
        amount: 30,
        balance: 70,
        reference: withdrawal,
        transactionId: withdrawn.transferId,
      },
    },
    {
      type: 'card_account.funding_reversed',
      payload: { ...common, amount: 20, balance: 50, reference: funding, transactionId: funded.transferId },
    },
  ])
})

test('reversals of two fundings of one card account at once have the balance after each', async () => {
  const partner = await withFunds(0n)
  const references = Array.from({ length: 6 }, newTransferUtr)
  const notice = transferTo(await numberOf(service, partner), { amount: 10 })
  for (const utr of references) payloadOf(await notifyTransfer(service.client, { ...notice, utr }))
  await Promise.all(references.map((reference) => reverseEntry(service, partner, reference)))
  const events = await sql<{ balance: string }>(
    `select payload ->> 'balance' as balance from outbox
     where tenant_id = $1 and type = 'card_account.funding_reversed' order by 1 desc`,
    [partner.partnerId],
  )
  expect(events.map(({ balance }) => balance)).toEqual(['50', '40', '30', '20', '10', '0'])
})

test('a partner that leaves with money on a card account is closed after the withdrawal that the command names', async () => {
  const partner = await withFunds(750_00n)
  const { partnerId, cardAccountId } = partner
  expect((await cli('tenant', 'close', partnerId, '--reason', 'contract ended')).code).toBe(0)
  const open = await cli('tenant', 'closing', partnerId)
  expect(open.stdout).toMatch(/card_accounts.*750\.00.*svc admin card-account withdraw/)
  const given = ['--amount', '750', '--reference', newTransferUtr(), '--reason', 'contract ended']
  const { code, stdout, stderr } = await cli('card-account', 'withdraw', cardAccountId, ...given, '--json')
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ balance: '0.00', amount: '750.00' })
  await expect
    .poll(
      async () =>
        (
          await sql<Json>('select closed_at is not null as closed from tenants where tenant_id = $1', [
            partnerId,
          ])
        )[0]!.closed,
      { timeout: 20_000 },
    )
    .toBe(true)
})
