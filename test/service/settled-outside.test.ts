import { fundAccount } from '@svc/core/cards/account/fund-account'
import { trialBalance } from '@svc/core/ledger/books'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { notifyTransfer, numberOf, quarantined, transferTo } from '../harness/bank-rail.ts'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { takeClosingSteps } from '../harness/closing.ts'
import { type Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import {
  advancesOf,
  balanceOn,
  exceptedOn,
  exceptionsOf,
  indebtedOn,
  settle,
} from '../harness/settled-outside.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
beforeAll(async () => {
  ;({ service, other, asha, ravi } = await openApprovers())
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const advances = advancesOf
const exceptions = exceptionsOf
const balanceOf = (accountId: string) => balanceOn(service, accountId)
const indebted = (amount: number) => indebtedOn(service, amount)
const excepted = (message: 'taken' | 'given', amount: number) => exceptedOn(service, message, amount)

test('a network settlement clears the exceptions, whose account says who owes them, against the card settlement', async () => {
  const openIn = async (accountId: string) => (await asha.get(`/ledger/accounts/${accountId}`)).json.open
  const taken = await excepted('taken', 80)
  const before = await balanceOf(`card_settlement:${taken.partnerId}`)
  expect(await openIn(exceptions(taken))).toEqual({ amount: '80.00', owedTo: 'us', by: 'network' })
  expect(await openIn(`card_settlement:${taken.partnerId}`)).toBeUndefined()
  const first = await settle(asha, exceptions(taken), { amount: '30.00' })
  expect(first).toMatchObject({ status: 200, json: { amount: '30.00', open: '50.00', isRepeat: false } })
  expect(Number(await balanceOf(`card_settlement:${taken.partnerId}`))).toBe(Number(before) - 30_00)
  const over = await settle(asha, exceptions(taken), { amount: '50.01' })
  expect([over.status, over.error]).toEqual([422, 'balance_not_open'])
  expect(over.text).toContain('50.00 rupees open on the debit side')
  expect((await settle(asha, exceptions(taken), { amount: '50.00' })).json.open).toBe('0.00')
  expect(await openIn(exceptions(taken))).toBeUndefined()
  const journal = (await asha.get(`/ledger/journals/${first.json.journalId}`)).json
  expect(journal).toMatchObject({ kind: 'exception_settled', reason: 'by letter' })
  const given = await excepted('given', 12.5)
  expect(await openIn(exceptions(given))).toEqual({ amount: '12.50', owedTo: 'network', by: 'network' })
  expect((await settle(asha, exceptions(given), { amount: '12.50' })).json.open).toBe('0.00')
  expect(await balanceOf(`card_settlement:${given.partnerId}`)).toBe('0')
  expect(await brokenIn(service)).toEqual([])
})

test('a reference is entered once, however it is written; another amount, outcome or account under it is rejected', async () => {
  const partner = await excepted('taken', 90)
  const reference = newReference()
  const spelled = `${reference.slice(0, 4).toLowerCase()}-${reference.slice(4)}`
  const first = await settle(asha, exceptions(partner), { amount: '20.00', reference })
  const again = await settle(ravi, exceptions(partner), { amount: '20.00', reference: spelled })
  expect(again.json).toEqual({ ...first.json, isRepeat: true })
  for (const entry of [{ amount: '21.00' }, { amount: '20.00', outcome: 'WRITTEN_OFF' as const }])
    expect((await settle(asha, exceptions(partner), { ...entry, reference })).error).toBe(
      'settlement_reference_used',
    )
  expect(await balanceOf(exceptions(partner))).toBe('-7000')
  await asha.post(`/ledger/journals/${first.json.journalId}/reverse`, { reason: 'typed wrongly' })
  expect((await settle(asha, exceptions(partner), { amount: '21.00', reference })).status).toBe(200)
  expect(await balanceOf(exceptions(partner))).toBe('-6900')
})

test('one bank transfer repays one advance or funds one card account, whichever is entered first', async () => {
  const [one, two, partner] = [
    await indebted(50),
    await indebted(50),
    await newPartner(service, { fundsPaise: 1_000_00n }),
  ]
  const reference = newReference()
  const { partnerId, cardAccountId } = partner
  const fund = (on: TestService, under: string) =>
    operatorsOf(on.app.services.commands)
      .open(fundAccount)
      .run(
        { partnerId, cardAccountId, amountPaise: paise(50_00n), reference: under, reason: 'float' },
        { actor: 'asha', target: cardAccountId },
      )
  await settle(asha, advances(one), { amount: '50.00', reference })
  expect((await settle(asha, advances(two), { amount: '50.00', reference })).error).toBe(
    'settlement_reference_used',
  )
  await expect(fund(service, reference)).rejects.toMatchObject({ code: 'funding_reference_used' })
  const notice = transferTo(await numberOf(service, partner), { utr: reference, amount: 50 })
  expect(quarantined(await notifyTransfer(service.client, notice))).toBe('contradicts_entry')
  for (let round = 0; round < 10; round++) {
    const under = newReference()
    const settlementArgs = {
      tenantId: two.merchantId,
      kind: 'merchant_advances',
      outcome: 'SETTLED',
      side: 'debit',
    } as const
    const both = await Promise.allSettled([
      fund(round % 2 ? service : other, under),
      operatorsOf(other.app.services.commands)
        .open(settleBalance)
        .run(
          { ...settlementArgs, amountPaise: paise(1_00n), reference: under, reason: 'repaid' },
          { actor: 'ravi', target: two.merchantId },
        ),
    ])
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  }
})

test('two processes that settle the remainder at once settle it once', async () => {
  for (let round = 0; round < 10; round++) {
    const { partnerId } = await excepted('taken', 10)
    const settlementArgs = {
      tenantId: partnerId,
      kind: 'card_exceptions',
      outcome: 'SETTLED',
      side: 'debit',
    } as const
    const all = await Promise.allSettled(
      [service, other, service, other].map((on) =>
        operatorsOf(on.app.services.commands)
          .open(settleBalance)
          .run(
            {
              ...settlementArgs,
              amountPaise: paise(10_00n),
              reference: newReference(),
              reason: 'file of the network',
            },
            { actor: 'asha', target: partnerId },
          ),
      ),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await balanceOf(exceptions({ partnerId }))).toBe('0')
  }
})

test('above the limit it waits for a second person, and the database rejects one without', async () => {
  const shop = await indebted(2_500)
  // Without the rule of the program, which asks who commands it: on the login of the service.
  const alone = service.app.services.commands.open(settleBalance).run({
    tenantId: shop.merchantId,
    kind: 'merchant_advances',
    outcome: 'WRITTEN_OFF',
    side: 'debit',
    amountPaise: paise(1_000_01n),
    reference: newReference(),
    reason: 'alone',
  })
  await expect(alone).rejects.toThrow('needs the approval of a second person')
  for (const [outcome, kind] of [
    ['SETTLED', 'advance_repaid'],
    ['WRITTEN_OFF', 'advance_written_off'],
  ] as const) {
    const entry = { amount: '1000.01', outcome, reference: newReference() }
    const waiting = await settle(asha, advances(shop), entry)
    const request = { ledgerAccountId: advances(shop), outcome, side: 'debit' }
    expect(waiting).toMatchObject({ status: 202, json: { kind, amount: '1000.01', request } })
    const { approvalId } = waiting.json
    expect((await approve(asha, approvalId)).error).toBe('approval_same_person')
    expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
    expect((await settle(asha, advances(shop), entry)).json).toMatchObject({ isRepeat: true })
  }
  expect(await balanceOf(advances(shop))).toBe('-49998')
})

test('an approved settlement is not posted once the account is open on the other side', async () => {
  const partner = await excepted('taken', 1_200)
  const waiting = await settle(asha, exceptions(partner), { amount: '1100.00' })
  expect(waiting.status).toBe(202)
  const client = await asPartner(service.client, partner)
  const { token } = payloadOf(await createCard(client, partner))
  await new Terminal(service.client, token).refund(9_000)
  const refused = await approve(ravi, waiting.json.approvalId)
  expect(refused.error).toBe('balance_not_open')
  expect(refused.text).toContain('7800.00 rupees open on the credit side')
})

test('only those who may move money settle, and only exceptions and advances', async () => {
  const shop = await indebted(10)
  const viewer = await signedIn(service, 'viewer')
  expect((await settle(viewer, advances(shop), { amount: '1.00' })).status).toBe(403)
  const payable = await settle(asha, `payable:${shop.merchantId}`, { amount: '1.00' })
  expect(payable.error).toBe('account_not_settled')
  expect((await settle(asha, 'merchant_advances:mer_none', { amount: '1.00' })).error).toBe(
    'ledger_account_not_found',
  )
  const [entry] = await sql<{ action: string }>(
    `select action from audit_log where target = $1 and action = 'ledger_account.settled'`,
    [advances(shop)],
  )
  expect(entry).toBeUndefined()
  await settle(asha, advances(shop), { amount: '1.00' })
  const [audited] = await sql<{ actor: string; details: Json }>(
    `select actor, content::jsonb -> 'details' as details from audit_log where target = $1 and action = 'ledger_account.settled'`,
    [advances(shop)],
  )
  expect(audited).toMatchObject({
    actor: expect.stringMatching(/^operator /),
    details: { amount: '1.00', outcome: 'SETTLED', reason: 'by letter' },
  })
})

test('books as of an instant before it show what was open then', async () => {
  const shop = await indebted(40)
  const [{ now }] = (await sql<{ now: Date }>('select clock_timestamp() as now')) as [{ now: Date }]
  await settle(asha, advances(shop), { amount: '40.00' })
  const owed = async (asOf?: Date) =>
    (
      await service.app.services.database.operate((tx) =>
        trialBalance(tx, { tenantId: shop.merchantId, asOf }),
      )
    ).find(({ kind }) => kind === 'merchant_advances')?.debit
  expect([await owed(now), await owed()]).toEqual([40_00n, 0n])
})

test('a merchant and a partner that leave with such balances are closed after the commands that the list names', async () => {
  const { name } = await newOperator(service, 'admin')
  const env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: name,
    SVC_OPERATOR_PASSWORD: PASSWORD,
    APPROVAL_ABOVE_RUPEES: '1000',
  }
  const cli = (...args: string[]) => runHere(['admin', ...args], env)
  const { merchantId } = await indebted(150)
  const partner = await excepted('taken', 25)
  const { cardAccountId, partnerId } = partner
  const [funds] = await sql<{ balance: string }>(
    `select to_char(balance / 100.0, 'FM999999990.00') as balance from ledger_accounts where account_id = $1`,
    [`card_funding:${cardAccountId}`],
  )
  await cli('tenant', 'close', merchantId, '--reason', 'contract ended')
  await cli('tenant', 'close', partnerId, '--reason', 'contract ended')
  const open = await cli('tenant', 'closing', merchantId)
  expect(open.stdout).toMatch(/advances.*150\.00.*svc admin books settle merchant_advances/)
  expect((await cli('tenant', 'closing', partnerId)).stdout).toMatch(
    /card_exceptions.*25\.00.*svc admin books settle card_exceptions/,
  )
  const given = (amount: string) => ['--amount', amount, '--reference', newReference(), '--reason', 'leaves']
  const [{ id: disputeId }] = (await sql<{ id: string }>(
    'select dispute_id as id from disputes where merchant_id = $1',
    [merchantId],
  )) as [{ id: string }]
  expect((await cli('dispute', 'close', disputeId, '--outcome', 'LOST')).code).toBe(0)
  const repaid = await cli('books', 'settle', `merchant_advances:${merchantId}`, ...given('150'), '--json')
  expect(repaid.code, repaid.stderr).toBe(0)
  expect(JSON.parse(repaid.stdout)).toMatchObject({ amount: '150.00', open: '0.00', isRepeat: false })
  const account = `card_exceptions:${partnerId}`
  const over = await cli('books', 'settle', account, ...given('25.01'), '--write-off')
  expect(over.stderr).toContain('25.00 rupees open on the debit side')
  expect((await cli('books', 'settle', account, ...given('25'), '--write-off')).code).toBe(0)
  const paidBack = await cli('card-account', 'withdraw', cardAccountId, ...given(funds!.balance))
  expect(paidBack.code, paidBack.stderr).toBe(0)
  // Events are numbered in the background.
  const running = await openService({ db: service.db, env: { APPROVAL_ABOVE_RUPEES: '1000' } })
  try {
    for (const tenantId of [merchantId, partnerId])
      await expect
        .poll(
          async () => {
            await takeClosingSteps(running)
            const text = 'select closed_at is not null as closed from tenants where tenant_id = $1'
            return (await sql<{ closed: boolean }>(text, [tenantId]))[0]!.closed
          },
          { timeout: 20_000 },
        )
        .toBe(true)
  } finally {
    await running.close()
  }
})
