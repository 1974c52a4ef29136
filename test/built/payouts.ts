import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { type Live, RAIL_KEY } from '../harness/live.ts'
import type { TestPartner } from '../harness/partner.ts'
import { creditOf } from '../harness/qr-codes.ts'
import { AS_RAVI, PASSWORD } from './administration.ts'
import type { LiveMerchant } from './merchants.ts'

/** A credit of the platform's suspense for the merchant, and one that goes back. */
export async function resolveSuspense(
  { svc }: Pick<Live, 'svc'>,
  { client, merchantId }: LiveMerchant,
): Promise<void> {
  const stray = () => creditOf('NOSUCHCODE', { amount: 12 })
  for (const credit of [stray(), stray()])
    expect(payloadOf(await client.notify('/rails/upi/credits', credit, RAIL_KEY)).status).toBe('SUSPENSE')
  const [one, two] = await svc(['admin', 'suspense', 'list'])
  const assign = ['assign', one.paymentId, '--merchant', merchantId, '--reason', 'receipt 1042']
  await svc(['admin', 'suspense', ...assign])
  const wrong = ['unassign', one.paymentId, '--reason', 'of another till']
  expect(await svc(['admin', 'suspense', ...wrong])).toMatchObject({ payment: { status: 'SUSPENSE' } })
  await svc(['admin', 'suspense', ...assign])
  await svc(['admin', 'suspense', 'return', two.utr, '--reason', 'payer asked for it'])
  const seen = ['--reason', 'bank statement', '--reference', 'RETURN0042']
  expect(await svc(['admin', 'payments', 'returned', two.utr, ...seen])).toMatchObject({
    payment: { status: 'REFUNDED' },
  })
  expect(payloadOf(await client.get(`/api/v0/payments?utr=${one.utr}`)).data).toMatchObject([
    { amount: 12, status: 'ACCEPTED' },
    { amount: 12, status: 'UNASSIGNED' },
  ])
}

/** Asha asks in the name of the settings, Ravi approves. */
export async function fundAboveLimit({ server, svc }: Live, { cardAccountId }: TestPartner): Promise<void> {
  const pay = ['--amount', '300000', '--reference', 'AXISN0000000077', '--reason', 'May float']
  const balance = async (): Promise<string> => {
    const [row] = await server.query<{ balance: string }>(
      'select balance::text from ledger_accounts where account_id = $1',
      [`card_funding:${cardAccountId}`],
    )
    return row!.balance
  }
  const before = await balance()
  const { approvalId } = await svc(['admin', 'card-account', 'fund', cardAccountId, ...pay])
  expect(await svc(['admin', 'approval', 'list'])).toMatchObject([
    { approvalId, requestedBy: 'operator asha' },
  ])
  const { journalId } = await svc(['admin', 'approval', 'approve', approvalId], '', AS_RAVI)
  expect(await svc(['admin', 'journal', 'show', journalId])).toMatchObject({
    legs: [{ amount: '300000.00' }],
  })
  const taken = ['admin', 'journal', 'reverse', journalId, '--reason', 'entered twice']
  await svc(['admin', 'approval', 'reject', (await svc(taken)).approvalId])
  await svc(['admin', 'approval', 'approve', (await svc(taken)).approvalId], '', AS_RAVI)
  expect(await balance()).toBe(before)
}

/** The notice said too much; the bank's letter corrects it, by the command line and in the console. */
export async function adjustPayment(
  { svc }: Pick<Live, 'svc'>,
  { client }: LiveMerchant,
  ravi: Browser,
): Promise<void> {
  expect((await ravi.signIn('ravi', PASSWORD)).status).toBe(200)
  const { data } = payloadOf(await client.get('/api/v0/payments?status=ACCEPTED'))
  const own = data.find(({ qrCodeId }: { qrCodeId?: string }) => qrCodeId !== undefined)
  const amount = (own.amount + 1).toFixed(2)
  const more = ['--amount', amount, '--reference', 'LETTER0002', '--reason', 'letter of the bank']
  expect(await svc(['admin', 'payments', 'adjust', own.utr, ...more])).toMatchObject({ change: 1 })
  const adjusted = await ravi.post(`/payments/${own.paymentId}/adjustments`, {
    amount: own.amount,
    reference: 'LETTER0003',
    reason: 'second letter of the bank',
  })
  expect([adjusted.status, adjusted.json.change]).toEqual([200, -1])
  const path = `/api/v0/payments/${own.paymentId}`
  expect(payloadOf(await client.get(path)).adjustments).toHaveLength(2)
}

/** Entered once by Asha; it is in the merchant's next payout. */
export async function importOpeningBalance(
  { folder, svc }: Live,
  { merchantId }: LiveMerchant,
): Promise<void> {
  const file = join(folder, 'opening.csv')
  await writeFile(file, `tenantId,account,amount,effectiveDate\n${merchantId},payable,40.00,2026-03-31\n`)
  const takeover = ['admin', 'opening-balances', 'import', file, '--reason', 'takeover']
  expect(await svc([...takeover, '--dry-run'])).toMatchObject({ due: 1, payable: '40.00' })
  expect(await svc(takeover)).toMatchObject({ entered: 1, waiting: 0 })
  expect(await svc(takeover)).toMatchObject({ entered: 0, enteredBefore: 1 })
}

/** Asha prepares, in the name of the settings; Ravi approves, here and in the console. */
export async function payOut(
  { folder, server, svc }: Live,
  { client, merchantId }: LiveMerchant,
  ravi: Browser,
): Promise<void> {
  const account = ['--holder', 'Corner Shop', '--number', '000012345678', '--ifsc', 'HDFC0000001']
  await svc(['admin', 'payout', 'account', merchantId, ...account, '--gst-state', '29'])
  await svc(['admin', 'payout', 'fee', merchantId, '--percent', '1', '--fixed', '0.50'])
  const monthly = ['--every', 'month', '--on', '31', '--reason', 'agreed']
  expect(await svc(['admin', 'payout', 'schedule', merchantId, ...monthly])).toMatchObject({
    schedules: [{ on: '31' }],
  })
  expect(await svc(['admin', 'payout', 'terms', merchantId])).toMatchObject({ fees: [{ percent: '1.00' }] })
  // A business day must be over: these payments were accepted days ago.
  await server.query(
    `update payments set created_at = created_at - interval '3 days' where status = 'ACCEPTED'`,
  )
  const [{ day }] = (await server.query<{ day: string }>(
    `select to_char(now() - interval '1 day', 'YYYY-MM-DD') as day`,
  )) as [{ day: string }]
  const prepare = async (): Promise<string> => {
    const [{ payoutId }] = await svc(['admin', 'payout', 'run', '--date', day])
    expect(payoutId).toMatch(/^pyo_/)
    return payoutId
  }
  const approve = (payoutId: string) => svc(['admin', 'payout', 'approve', payoutId], '', AS_RAVI)
  const cancelled = await prepare()
  await svc(['admin', 'payout', 'cancel', cancelled, '--reason', 'wrong account'])
  const failed = await prepare()
  await approve(failed)
  expect(await svc(['admin', 'payout', 'export'])).toHaveLength(1)
  // It was sent, so that a second person confirms that the bank did not pay it.
  const { approvalId } = await svc(['admin', 'payout', 'fail', failed, '--reason', 'account closed'])
  await svc(['admin', 'approval', 'approve', approvalId], '', AS_RAVI)
  const imported = await prepare()
  expect((await ravi.signIn('ravi', PASSWORD)).status).toBe(200)
  expect((await ravi.post(`/payouts/${imported}/approve`)).json).toMatchObject({
    approvedBy: 'operator ravi',
  })
  await svc(['admin', 'payout', 'export'])
  const [{ runId }] = await svc(['admin', 'payout', 'runs'])
  expect(await svc(['admin', 'payout', 'export', '--run', runId])).toMatchObject([{ payoutId: imported }])
  const file = join(folder, 'payouts.csv')
  await writeFile(file, `payoutId,status,utr,reason\n${imported},PAID,PAYOUT0001,\n`)
  expect(await svc(['admin', 'payout', 'import', file])).toMatchObject([{ result: 'PAID' }])
  await svc(['admin', 'payout', 'confirm', imported, '--utr', 'PAYOUT0001'])
  expect(await svc(['admin', 'payout', 'show', imported])).toMatchObject({
    status: 'PAID',
    utr: 'PAYOUT0001',
  })
  expect(await svc(['admin', 'payout', 'list', merchantId])).toHaveLength(3)
  const paid = payloadOf(await client.get('/api/v0/payouts?status=PAID')).data
  // The fee holds from today on; these payments are older.
  expect(paid).toMatchObject([{ payoutId: imported, fees: 0 }])
  payloadOf(await client.get(`/api/v0/payouts/${imported}`))
  expect((await client.get(`/api/v0/payouts/${imported}/statement.pdf`)).text).toMatch(/^%PDF-/)
  expect(payloadOf(await client.get(`/api/v0/payouts/${imported}/lines`)).data.length).toBeGreaterThan(1)
  expect((await svc(['admin', 'payout', 'statement', merchantId, '--date', day])).signed).toMatch(/^ey/)
  await inTheConsole(ravi, { merchantId, payoutId: imported, day })
}

interface Paid {
  readonly merchantId: string
  readonly payoutId: string
  readonly day: string
}

/** What the pages of the console read, by the operators' own login to the database. */
async function inTheConsole(browser: Browser, { merchantId, payoutId, day }: Paid): Promise<void> {
  const read = async (path: string) => {
    const { json, status, text } = await browser.get(path)
    expect([path, status], text).toEqual([path, 200])
    return json
  }
  expect(await read(`/payouts/totals?merchantId=${merchantId}&status=PAID`)).toMatchObject({ count: 1 })
  expect((await read(`/payouts/${payoutId}`)).history.length).toBeGreaterThan(3)
  expect((await read(`/payouts/${payoutId}/lines`)).data.length).toBeGreaterThan(1)
  expect(await read(`/merchants/${merchantId}/payout-terms`)).toMatchObject({ bankAccount: { ends: '5678' } })
  expect(await read(`/ledger/journals/jrn_${payoutId.slice(4)}p`)).toMatchObject({ kind: 'payout_paid' })
  expect((await read('/status')).database.role).toBe('primary')
  const { status, json } = await browser.post('/payouts/run', { businessDay: day })
  expect([status, json.data.filter((each: { payoutId?: string }) => each.payoutId)]).toEqual([200, []])
}

/** A fee of a month that is over is invoiced, and the merchant reads its invoice. */
export async function invoice({ server, svc }: Live, { client, merchantId }: LiveMerchant): Promise<void> {
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', {}))
  const [code] = await server.query<{ tr: string }>('select tr from qr_codes where qr_code_id = $1', [
    qrCodeId,
  ])
  const { paymentId } = payloadOf(await client.notify('/rails/upi/credits', creditOf(code!.tr), RAIL_KEY))
  // As if the payment had come and the fee had been set more than a month ago: a trigger would say that the fee is new.
  await server.query(
    `begin; set local session_replication_role = replica;
     insert into merchant_fees (merchant_id, valid_from, basis_points, fixed_paise, created_at)
       values ('${merchantId}', '2020-01-01', 100, 50, '2020-01-01'); commit`,
  )
  await server.query(
    `update payments set created_at = now() - interval '40 days' where payment_id = '${paymentId}'`,
  )
  await server.query(
    `update payout_positions set accrued_to = '2020-01-01', due_from = '2020-01-01' where merchant_id = '${merchantId}'`,
  )
  const [over] = await server.query<{ month: string }>(
    `select to_char((now() - interval '40 days') at time zone 'Asia/Kolkata', 'YYYY-MM') as month`,
  )
  const [issued] = await svc(['admin', 'tax', 'issue', '--month', over!.month])
  const { data } = payloadOf(await client.get('/api/v0/tax-documents'))
  expect(data).toMatchObject([{ number: issued.number, kind: 'INVOICE', count: 1 }])
  const path = `/api/v0/tax-documents/${data[0].documentId}`
  expect(payloadOf(await client.get(path)).number).toBe(issued.number)
  expect((await client.get(`${path}/pdf`)).text).toMatch(/^%PDF-/)
}
