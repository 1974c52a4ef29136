import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closePeriod } from '@svc/core/ledger/closing'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { daysAgo, type Line, openingsOf, writeLines } from '../harness/opening-balances.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner } from '../harness/partner.ts'
import { giveAccount, giveFee, preparePayoutOf } from '../harness/payouts.ts'
import { runCli } from '../harness/processes.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
let dir: string
beforeAll(async () => {
  const env = { APPROVAL_ABOVE_RUPEES: '100000' }
  service = await openService({ background: false, env })
  other = await openService({ background: false, env, db: service.db })
  ;[asha, ravi] = [await signedIn(service, 'operator'), await signedIn(service, 'operator')]
  dir = await mkdtemp(join(tmpdir(), 'svc-opening-'))
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
  await rm(dir, { recursive: true })
})

const openings = (tenantId: string) => openingsOf(service, tenantId)
let files = 0
const csv = (...lines: readonly Line[]) => writeLines(join(dir, `${files++}.csv`), lines)

const settings = () => ({
  DATABASE_URL: service.db.url,
  SVC_MASTER_KEY: MASTER_KEY,
  APPROVAL_ABOVE_RUPEES: '100000',
})
const args = (file: string, ...more: string[]) => [
  'admin',
  'opening-balances',
  'import',
  file,
  '--reason',
  'takeover',
  ...more,
]
const imports = (file: string, ...more: string[]) => runHere(args(file, ...more), settings())
async function imported(file: string, ...more: string[]): Promise<Json> {
  const { code, stdout, stderr } = await imports(file, '--json', ...more)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}
const statementOf = async (merchantId: string) =>
  JSON.parse(
    (await runHere(['admin', 'payout', 'statement', merchantId, '--date', daysAgo(0), '--json'], settings()))
      .stdout,
  )

test('a dry run reports the totals of a file and every rejected line, and enters nothing', async () => {
  const { merchantId } = await newShop(service)
  const { partnerId, cardAccountId } = await newPartner(service, { fundsPaise: 0n })
  const good: Line[] = [
    [merchantId, 'payable', '1250.50'],
    [partnerId, cardAccountId, '300'],
  ]
  expect(await imported(await csv(...good), '--dry-run')).toMatchObject({
    lines: 2,
    payable: '1250.50',
    cardAccounts: '300.00',
    due: 2,
    refused: 0,
  })
  const bad = await csv(
    ...good,
    [merchantId, 'payable', '1'],
    [merchantId, cardAccountId, '1'],
    ['mer_00000000000000000000000000', 'payable', '1'],
    [merchantId, 'bank', '1'],
    [merchantId, 'payable', '-1'],
    [merchantId, 'payable', '1', '2026-02-30'],
    [(await newShop(service)).merchantId, 'payable', '1', daysAgo(-1)],
  )
  const dry = await imports(bad, '--dry-run', '--json')
  expect(dry.code).toBe(1)
  expect(JSON.parse(dry.stdout)).toMatchObject({ lines: 9, due: 2, refused: 7, payable: '1250.50' })
  expect(dry.stderr.trim().split('\n')).toEqual([
    `line 3: payable:${merchantId} is in line 1 already`,
    `line 4: the partner ${merchantId} has no card account ${cardAccountId}`,
    'line 5: there is no merchant mer_00000000000000000000000000',
    'line 6: account must be payable, or the id of a card account',
    'line 7: amount must be rupees above 0, with at most two decimals: "-1" is below zero',
    'line 8: effectiveDate must be a day, such as 2026-04-01 or 01-04-2026: "2026-02-30" is not a day of the calendar, year first or day first',
    `line 9: effectiveDate is refused: ${daysAgo(-1)} is after today, ${daysAgo(0)}`,
  ])
  const refused = await imports(bad)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was entered') })
  expect(await openings(merchantId)).toEqual([])
  expect(await balancesOf(service, merchantId)).toEqual({})
})

test('a file is entered once, a journal for each account, with its reference, reason and effective date', async () => {
  const { merchantId } = await newShop(service)
  const { partnerId, cardAccountId } = await newPartner(service, { fundsPaise: 0n })
  const file = await csv(
    [merchantId, 'payable', '1250.50', '2026-03-31'],
    [partnerId, cardAccountId, '300', '2026-03-31'],
  )
  const first = await imported(file)
  expect(first).toMatchObject({ entered: 2, waiting: 0, enteredBefore: 0 })
  expect(await openings(merchantId)).toMatchObject([
    { kind: 'opening_balance', reference: `${first.fileId}/1`, reason: 'takeover', day: '2026-03-31' },
  ])
  expect(await balancesOf(service, merchantId)).toEqual({ bank: '-125050', payable: '125050' })
  expect(await balancesOf(service, partnerId)).toEqual({ funding_clearing: '-30000', card_funding: '30000' })
  expect(await imported(file)).toMatchObject({ entered: 0, enteredBefore: 2 })
  expect(await openings(merchantId)).toHaveLength(1)
  // The same of another file, among others.
  const { merchantId: third } = await newShop(service)
  const more = await csv([third, 'payable', '1'], [merchantId, 'payable', '1250.50', '2026-03-31'])
  expect(await imported(more)).toMatchObject({ entered: 1, enteredBefore: 1 })
})

test('a second opening balance of an account is rejected and names the first, also by the database', async () => {
  const { merchantId } = await newShop(service)
  await imported(await csv([merchantId, 'payable', '10']))
  const [{ journalId }] = (await openings(merchantId)) as [Json]
  const second = await imports(await csv([merchantId, 'payable', '11']))
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`payable:${merchantId} has the opening balance 10.00`)
  expect(second.stderr).toContain(journalId)
  const requested = {
    tenantId: merchantId,
    kind: 'payable',
    ownerId: merchantId,
    amountPaise: paise(11_00n),
    effectiveDate: daysAgo(0),
    reference: 'opb_other/1',
    reason: 'takeover',
  } as const
  await expect(
    operatorsOf(service.app.services.commands).open(enterOpeningBalance).run(requested),
  ).rejects.toMatchObject({
    code: 'opening_balance_entered',
  })
  const written = sqlOn(
    service,
    `insert into opening_balances (tenant_id, journal_id, account_id, amount_paise, reference, created_at)
     select tenant_id, 'jrn_other', account_id, 1, 'x', now() from opening_balances where tenant_id = $1`,
    [merchantId],
  )
  await expect(written).rejects.toMatchObject({ constraint: 'opening_balances_one_standing' })
})

test('a day of a closed period is rejected', async () => {
  const { merchantId } = await newShop(service)
  const { database, keyring } = service.app.services
  const closing = { through: daysAgo(400), by: 'operator asha', timeZone: 'Asia/Kolkata' }
  await database.operate((tx) => closePeriod(tx, keyring, closing))
  const refused = await imports(await csv([merchantId, 'payable', '10', daysAgo(400)]))
  expect(refused.stderr).toContain(`the books are closed through ${daysAgo(400)}`)
  expect(await imported(await csv([merchantId, 'payable', '10', daysAgo(399)]))).toMatchObject({ entered: 1 })
})

test('an opening balance is in the merchant’s next payout, without a fee, and due again when that fails', async () => {
  const { merchantId, client } = await newShop(service)
  await giveAccount(service, merchantId)
  await giveFee(service, merchantId, { basisPoints: 100 })
  const { tr } = await newCode(service, client, { multipleUse: true })
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 100 })))
  await imported(await csv([merchantId, 'payable', '1000.25']))
  const [{ journalId }] = (await openings(merchantId)) as [Json]
  const payoutId = await preparePayoutOf(service, merchantId)
  const path = `/api/v0/payouts/${payoutId}`
  expect(payloadOf(await client.get(path))).toMatchObject({
    payments: { count: 1, amount: 100 },
    adjustments: { count: 1, amount: 1000.25 },
    fees: 1,
    tax: { cgst: 0.09, sgst: 0.09 },
    amount: 1099.07,
  })
  const { data } = payloadOf(await client.get(`${path}/lines`))
  expect(data.find(({ kind }: Json) => kind === 'opening_balance')).toMatchObject({
    journalId,
    amount: 1000.25,
    fee: 0,
    tax: { cgst: 0, sgst: 0, igst: 0 },
  })
  expect(await statementOf(merchantId)).toMatchObject({ unexplained: '0.00' })
  const step = (to: object) =>
    operatorsOf(service.app.services.commands)
      .open(changePayout)
      .run({ merchantId, payoutId, step: to as never })
  await step({ to: 'CANCELLED', reason: 'wrong day' })
  expect(await brokenIn(service)).toEqual([])
  const again = await preparePayoutOf(service, merchantId)
  expect(payloadOf(await client.get(`/api/v0/payouts/${again}`)).amount).toBe(1099.07)
  const statement = await statementOf(merchantId)
  expect(statement).toMatchObject({ unexplained: '0.00', closingPayable: '0.00' })
  expect(statement.movements).toContainEqual({
    kind: 'opening_balance',
    title: 'Opening balance',
    count: 1,
    ledger: '1000.25',
    records: '1000.25',
  })
})

test('an incorrect one is reversed before it is paid out, then another is entered; in a payout it is not reversed', async () => {
  const { merchantId, client } = await newShop(service)
  await giveAccount(service, merchantId)
  const { tr } = await newCode(service, client, { multipleUse: true })
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 500 })))
  const wrong = await csv([merchantId, 'payable', '90'])
  await imported(wrong)
  const [{ journalId }] = (await openings(merchantId)) as [Json]
  const reversal = await asha.post(`/ledger/journals/${journalId}/reverse`, { reason: 'nine, not ninety' })
  expect(reversal).toMatchObject({ status: 200, json: { kind: 'journal_reversal', reverses: journalId } })
  // The file that was wrong enters nothing any more.
  expect(await imported(wrong)).toMatchObject({ entered: 0, enteredBefore: 0, reversed: 1 })
  await imported(await csv([merchantId, 'payable', '9']))
  const payoutId = await preparePayoutOf(service, merchantId)
  expect(payloadOf(await client.get(`/api/v0/payouts/${payoutId}`)).amount).toBe(509)
  expect(await statementOf(merchantId)).toMatchObject({ unexplained: '0.00' })
  const { journalId: standing } = (await openings(merchantId)).at(-1) as Json
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 500 })))
  const refused = await asha.post(`/ledger/journals/${standing}/reverse`, { reason: 'too late' })
  expect(refused).toMatchObject({ status: 409, error: 'journal_not_reversible' })
  expect(refused.text).toContain(payoutId)
})

test('above the limit an opening balance waits for a second person; the import repeats without another request', async () => {
  const { merchantId } = await newShop(service)
  const file = await csv([merchantId, 'payable', '100000.01'])
  const first = await imports(file, '--json')
  expect(first.stderr).toContain('svc admin approval list')
  expect(JSON.parse(first.stdout)).toMatchObject({ entered: 0, waiting: 1 })
  expect(await imported(file)).toMatchObject({ entered: 0, waiting: 1 })
  const { data } = (await asha.get('/approvals')).json
  const its = data.filter(({ tenantId }: Json) => tenantId === merchantId)
  expect(its).toMatchObject([{ kind: 'opening_balance', amount: '100000.01' }])
  const approved = await ravi.post(`/approvals/${its[0].approvalId}/approve`, {})
  expect(approved.json).toMatchObject({ status: 'POSTED', journalId: expect.stringContaining('jrn_') })
  expect(await imported(file)).toMatchObject({ entered: 0, waiting: 0, enteredBefore: 1 })
  expect(await balancesOf(service, merchantId)).toEqual({ bank: '-10000001', payable: '10000001' })
})

test('two processes that import one file at once enter each line once', async () => {
  const lines: Line[] = []
  for (let i = 0; i < 5; i++) lines.push([(await newShop(service)).merchantId, 'payable', '7'])
  const file = await csv(...lines)
  const env = { ...settings(), SVC_MODE: 'sandbox' }
  const both = await Promise.all([runCli(args(file, '--json'), env), runCli(args(file, '--json'), env)])
  for (const { code, stderr } of both) expect(code, stderr).toBe(0)
  const counts = both.map(({ stdout }) => JSON.parse(stdout) as Json)
  expect(counts.reduce((sum, { entered }) => sum + entered, 0)).toBe(5)
  for (const [merchantId] of lines)
    expect(await balancesOf(service, merchantId)).toEqual({ bank: '-700', payable: '700' })
}, 240_000)

test('commands of two processes that enter one account at once enter it once; another amount at once is rejected', async () => {
  for (let round = 0; round < 10; round++) {
    const { merchantId } = await newShop(service)
    const enter = (on: TestService, amount: bigint, reference: string) =>
      operatorsOf(on.app.services.commands)
        .open(enterOpeningBalance)
        .run({
          tenantId: merchantId,
          kind: 'payable',
          ownerId: merchantId,
          amountPaise: paise(amount),
          effectiveDate: daysAgo(0),
          reference,
          reason: 'takeover',
        })
    const all = await Promise.allSettled([
      enter(service, 100n, 'opb_one/1'),
      enter(other, 100n, 'opb_one/1'),
      enter(other, 200n, 'opb_two/1'),
      enter(service, 200n, 'opb_two/1'),
    ])
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(await openings(merchantId)).toHaveLength(1)
  }
})
