import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { giveAccount, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, type Shop, shopWith } from '../harness/refunds.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let dir: string
let shop: Awaited<ReturnType<typeof newShop>>
let tr: string
beforeAll(async () => {
  service = await openService({ background: false })
  dir = await mkdtemp(join(tmpdir(), 'svc-files-'))
  shop = await newShop(service)
  ;({ tr } = await newCode(service, shop.client, { multipleUse: true }))
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await service?.close()
  await rm(dir, { recursive: true, force: true })
})

let files = 0
async function write(...lines: readonly string[]): Promise<string> {
  const file = join(dir, `${files++}.csv`)
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}
const admin = (...args: string[]) =>
  runHere(['admin', ...args], { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY })
async function json(...args: string[]): Promise<{ code: number | null; stderr: string; out: Json }> {
  const { code, stderr, stdout } = await admin(...args, '--json')
  return { code, stderr, out: stdout === '' ? undefined : JSON.parse(stdout) }
}
async function pay(amount: number, utr = newUtr()): Promise<string> {
  payloadOf(await notifyCredit(service.client, creditOf(tr, { utr, amount })))
  return utr
}
const balances = () => balancesOf(service, shop.merchantId)

test('of a net settlement everything is booked: payments and charges where they belong, and what fits nothing as that', async () => {
  const utr = await pay(249.5)
  const before = await balances()
  const file = await write(
    'batchUtr,valueDate,netAmount,kind,reference,amount,date,note',
    `HDFCN526001,2026-04-02,234.61,payment,${utr},249.50,2026-04-01,`,
    'HDFCN526001,2026-04-02,234.61,refund,AXISR0000000042,-9.89,2026-04-01,',
    'HDFCN526001,2026-04-02,234.61,charge,,-4.00,2026-04-01,fee',
    'HDFCN526001,2026-04-02,234.61,charge_gst,,-0.72,2026-04-01,',
    'TOTAL,,,,,234.89,,',
  )
  const dry = await json('settlement', 'import', file, '--dry-run')
  expect(dry.out).toMatchObject({
    matched: 1,
    matchedAmount: '249.50',
    unknown: 1,
    skipped: 1,
    unreadable: 0,
  })
  expect(await balances()).toEqual(before)
  const { code, out } = await json('settlement', 'import', file)
  expect([code, out]).toEqual([0, dry.out])
  expect(out.batches).toEqual([
    {
      batchId: expect.stringMatching(/^stb_/),
      batchUtr: 'HDFCN526001',
      rail: 'upi',
      status: 'INCOMPLETE',
      valueDate: '2026-04-02',
      netAmount: '234.61',
      lines: 4,
      matched: 3,
      unmatched: 1,
      remainder: '-0.28',
    },
  ])
  expect(await balances()).toMatchObject({ bank: '-24950' })
  const after = await balances()
  expect((await json('settlement', 'import', file)).out).toMatchObject({ matched: 0, repeated: 4 })
  expect(await balances()).toEqual(after)
  const text = await admin('settlement', 'import', file, '--dry-run')
  expect(text.stderr).toContain('transfer HDFCN526001 of 2026-04-02: 234.61 INCOMPLETE')
  expect(text.stderr).toContain('-0.28 is in no line')
})

test('the file of a payment service is imported by its format, and a bank’s by a format of one’s own', async () => {
  const [one, two] = [await pay(100, 'pay29QQoUBi66xm2f'), await pay(50)]
  const recon = await write(
    'entity_id,type,debit,credit,amount,currency,fee,tax,settlement_id,settled_at',
    'pay_29QQoUBi66xm2f,payment,0,9764,10000,INR,236,36,setl_1KKoUBi66xm2f,1775000000',
    'rfnd_29QQoUBi66xm2g,refund,1000,0,1000,INR,0,0,setl_1KKoUBi66xm2f,1775000000',
  )
  expect((await json('settlement', 'import', recon)).stderr).toContain('has no column utr')
  const { code, out } = await json('settlement', 'import', recon, '--format', 'razorpay')
  expect([code, out]).toMatchObject([0, { matched: 1, matchedAmount: '100.00', unknown: 1 }])
  const format = join(dir, 'bank.json')
  await writeFile(
    format,
    JSON.stringify({ columns: { reference: 'RRN', amount: 'Cr', date: 'Dt' }, dates: { pattern: 'ddMMyy' } }),
  )
  const bank = await write('My Bank', 'Dt;RRN;Cr', `010426;${two};50,00`, `010426;${one};100.00`)
  const unread = await json('settlement', 'import', bank, '--format', format)
  expect([unread.code, unread.stderr]).toEqual([
    1,
    expect.stringMatching(/line 1: Cr must be rupees.*has commas/),
  ])
  await writeFile(bank, `My Bank\nDt;RRN;Cr\n010426;${two};50.00\n`)
  expect((await json('settlement', 'import', bank, '--format', format)).out).toMatchObject({ matched: 1 })
  for (const no of ['nobank', join(dir, 'none.json')])
    expect((await json('settlement', 'import', bank, '--format', no)).code).toBe(1)
})

test('with a line that cannot be read nothing is imported, unless the others are asked for; a spreadsheet’s damage refuses them too', async () => {
  const utr = await pay(12)
  const file = await write('utr,amount,date', `${utr},12.00,2026-04-01`, `${newUtr()},12,34.00,2026-04-01`)
  const before = await balances()
  const refused = await json('settlement', 'import', file)
  expect(refused.code).toBe(1)
  const { error } = JSON.parse(refused.stderr) as { error: { code: string; message: string } }
  expect(error).toMatchObject({
    code: 'validation_failed',
    message: expect.stringMatching(/^Nothing was imported[^]*--only-readable/),
  })
  expect(await balances()).toEqual(before)
  const only = await json('settlement', 'import', file, '--only-readable')
  expect([only.code, only.out]).toMatchObject([1, { matched: 1, unreadable: 1, problems: [{ line: 2 }] }])
  const damaged = await write('utr,amount,date', `${await pay(13)},13,2026-04-01`, '4.32199E+11,5,2026-04-01')
  const now = await balances()
  for (const more of [[], ['--only-readable'], ['--dry-run']]) {
    const { code, stderr } = await json('settlement', 'import', damaged, ...more)
    expect([code, stderr]).toEqual([1, expect.stringContaining('A spreadsheet changed the column utr')])
  }
  expect(await balances()).toEqual(now)
})

async function sentPayout(): Promise<Shop & { payoutId: string }> {
  const paid = await shopWith(service, 10)
  await giveAccount(service, paid.merchantId)
  return { ...paid, payoutId: await sendPayoutOf(service, paid.merchantId) }
}

test('a response to payouts whose amount is another one, or whose reference is none, records nothing of its line', async () => {
  const [one, two] = [await sentPayout(), await sentPayout()]
  const { amount } = payloadOf(await one.client.get(`/api/v0/payouts/${one.payoutId}`))
  const head = 'payoutId,status,utr,reason,amount'
  const other = await write(head, `${one.payoutId},PAID,${newUtr()},,${amount + 1}`)
  expect((await json('payout', 'import', other)).out).toEqual([
    { line: 1, payoutId: one.payoutId, result: expect.stringContaining('nothing recorded: the bank states') },
  ])
  const none = await write(head, `${one.payoutId},PAID,NONREF,,`, `${two.payoutId},PAID,${newUtr()},,`)
  expect((await json('payout', 'import', none)).stderr).toContain('line 1: utr is a placeholder')
  const dry = await json('payout', 'import', none, '--only-readable', '--dry-run')
  expect(dry.out.map(({ result }: Json) => result)).toEqual([
    'would be PAID; it is SENT',
    expect.stringContaining('cannot be read: utr is a placeholder'),
  ])
  const { code, out } = await json('payout', 'import', none, '--only-readable')
  expect([code, out[0].result]).toEqual([1, 'PAID'])
  expect(payloadOf(await one.client.get(`/api/v0/payouts/${one.payoutId}`)).status).toBe('SENT')
})

test('a response to refunds completes them and makes those that failed payable again; the same file changes nothing', async () => {
  const { client, merchantId, path } = await shopWith(service, 100)
  const refund = async (referenceNumber: string, amount: number): Promise<string> =>
    payloadOf(await client.post(path, { amount, referenceNumber })).refundId
  const [made, failed, other] = [await refund('a', 10), await refund('b', 20), await refund('c', 5)]
  expect((await admin('refund', 'export', '--json')).code).toBe(0)
  const file = await write(
    'refundId,STATUS,rrn,amount,reason',
    `${made},Success,${newUtr()},10.00,`,
    `${failed},FAILED,NA,20.00,account closed`,
    `${other},DEEMED,,5.00,`,
  )
  const as = ['--status', 'status', '--refunded', 'success', '--utr', 'RRN']
  const dry = await json('refund', 'import', file, ...as, '--dry-run')
  expect(dry.out.map(({ result }: Json) => result)).toEqual([
    'would be REFUNDED; it is SENT',
    'would be FAILED; it is SENT',
    'nothing recorded: "DEEMED" is no word for refunded or failed',
  ])
  const first = await json('refund', 'import', file, ...as)
  expect([first.code, first.out.map(({ result }: Json) => result)]).toEqual([
    1,
    ['REFUNDED', 'FAILED', expect.stringContaining('nothing recorded')],
  ])
  const after = await balancesOf(service, merchantId)
  expect((await json('refund', 'import', file, ...as)).out).toEqual(first.out)
  expect(await balancesOf(service, merchantId)).toEqual(after)
  const wrong = await write('refundId,status,utr,amount', `${other},REFUNDED,${newUtr()},6.00`)
  expect((await json('refund', 'import', wrong)).out[0].result).toBe(
    'nothing recorded: the bank states 6.00, and it is 5.00',
  )
})
