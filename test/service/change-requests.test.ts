import { dayAfter } from '@svc/kernel/bank-days'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { memberBrowser } from '../harness/portal.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { newShop } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let finance: Browser
beforeAll(async () => {
  service = await openService({ env: { APPROVER_COOLING_DAYS: '7' } })
  finance = await signedIn(service, 'finance')
})
afterAll(() => service.close())

const OLD = { holder: 'Corner Shop', number: '000012345678', ifsc: 'HDFC0000001' }
const NEW = { holder: 'Corner Shop LLP', number: '999988887777', ifsc: 'ICIC0000002' }

const askFor = async (member: Browser, what: 'bank-account' | 'payment-address' | 'fee', body: object) =>
  (await member.post(`/change-requests/${what}`, body)).json
const changesOf = async (client: Client): Promise<Json[]> =>
  payloadOf(await client.get('/api/v0/events?after=0'))
    .data.filter(({ type }: Json) => type === 'merchant.updated')
    .map(({ data }: Json) => data)

test('a bank account that a member asks for holds once finance has approved it; until then payouts go to the present one', async () => {
  const { merchantId, client } = await newShop(service)
  await finance.send('PUT', `/merchants/${merchantId}/bank-account`, { ...OLD, gstState: '29' })
  const member = await memberBrowser(service, merchantId)
  const { approvalId } = await askFor(member, 'bank-account', NEW)
  expect((await member.post('/change-requests/bank-account', NEW)).error).toBe('approval_open')
  const shown = (await member.get('/payout-terms')).json
  expect(shown.bankAccount.ends).toBe('5678')
  expect(shown.requests).toMatchObject([{ approvalId, status: 'PENDING', ends: '7777' }])
  expect(JSON.stringify(shown)).not.toContain(NEW.number)

  const { items } = (await finance.get('/waiting')).json
  expect(items.find(({ item }: Json) => item === 'change_requests').count).toBe(1)
  const path = `/change-requests/${approvalId}/approve`
  expect((await (await signedIn(service, 'operations')).post(path)).status).toBe(403)
  expect((await finance.get(`/merchants/${merchantId}/payout-terms`)).json.bankAccount.ends).toBe('5678')
  expect((await finance.post(path)).json).toMatchObject({ status: 'APPROVED', merchantId })
  expect((await finance.post(path)).error).toBe('approval_closed')
  const { bankAccount, requests } = (await member.get('/payout-terms')).json
  expect(bankAccount).toMatchObject({ holder: NEW.holder, ends: '7777', ifsc: NEW.ifsc, gstState: '29' })
  expect(requests).toMatchObject([{ status: 'APPROVED', decidedBy: 'the operator' }])
  // Who approved it is who set it, and so approves no payout to it.
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(
      `select d.set_by = c.decided_by as same, c.requested_by from payout_details d join change_requests c using (merchant_id)
       where merchant_id = $1`,
      [merchantId],
    ),
  )
  expect(rows).toEqual([{ same: true, requested_by: `member ${member.memberName}` }])
  await expect
    .poll(async () => (await changesOf(client)).map(({ changed }) => changed[0]))
    .toEqual(['bankAccount', 'changeRequested', 'bankAccount'])
})

test('a payment address that a member asks for waits for finance, and then as long as any other', async () => {
  const { merchantId, vpa } = await newShop(service)
  const member = await memberBrowser(service, merchantId)
  const { approvalId } = await askFor(member, 'payment-address', { vpa: `new.${vpa}` })
  const before = (await member.get('/payout-terms')).json
  expect([before.vpa, before.nextVpa]).toEqual([vpa, undefined])
  expect((await finance.post(`/change-requests/${approvalId}/approve`)).status).toBe(200)
  const { nextVpaOn, ...terms } = (await member.get('/payout-terms')).json
  expect(terms).toMatchObject({ vpa, nextVpa: `new.${vpa}` })
  expect((Date.parse(nextVpaOn) - Date.now()) / 86_400_000).toBeGreaterThan(6.9)
  const other = await newShop(service)
  const thief = await memberBrowser(service, other.merchantId)
  const { approvalId: taken } = await askFor(thief, 'payment-address', { vpa })
  expect((await finance.post(`/change-requests/${taken}/approve`)).error).toBe('already_exists')
})

test('a fee that a member asks for is charged once finance has approved it, and never for what was paid before', async () => {
  const { merchantId, client } = await newShop(service)
  await finance.post(`/merchants/${merchantId}/fees`, { percent: '1.50', fixed: '0' })
  const { tr } = await newCode(service, client, { multipleUse: true })
  await notifyCredit(service.client, creditOf(tr))
  const member = await memberBrowser(service, merchantId)
  expect((await askFor(member, 'fee', { percent: '100.01', fixed: '0' })).error).toBe('validation_failed')
  const { approvalId } = await askFor(member, 'fee', { percent: '0.9', fixed: '1' })
  const before = (await member.get('/payout-terms')).json
  expect(before.fees).toMatchObject([{ percent: '1.50', fixed: '0.00' }])
  expect(before.requests).toMatchObject([{ kind: 'fee', percent: '0.90', fixed: '1.00', status: 'PENDING' }])
  const approved = await finance.post(`/change-requests/${approvalId}/approve`)
  expect(approved.json).toMatchObject({ kind: 'fee', percent: '0.90', fixed: '1.00', status: 'APPROVED' })
  const { fees } = (await member.get('/payout-terms')).json
  expect(fees).toMatchObject([
    { percent: '0.90', fixed: '1.00' },
    { percent: '1.50', fixed: '0.00' },
  ])
  // A payment of today was charged by the other one.
  expect(fees[0].validFrom > fees[1].validFrom).toBe(true)
  await expect
    .poll(async () =>
      (await changesOf(client)).map(({ changed, fee, request }) => [changed[0], fee ?? request]),
    )
    .toMatchObject([
      ['fee', { percent: '1.50' }],
      ['changeRequested', { kind: 'fee', percent: '0.90', fixed: '1.00' }],
      ['fee', { percent: '0.90', fixed: '1.00' }],
    ])
})

test('a fee that replaces another waits for the cooling time on the word of one operator, and not if the merchant asks for it', async () => {
  const { merchantId } = await newShop(service)
  const fees = `/merchants/${merchantId}/fees`
  const set = async (percent: string): Promise<string> =>
    (await finance.post(fees, { percent, fixed: '0' })).json.fees[0].validFrom
  const today = await set('1.00')
  expect(await set('0.00')).toBe(dayAfter(today, 7))
  const early = await finance.post(fees, { percent: '0.00', fixed: '0', validFrom: dayAfter(today, 6) })
  expect([early.status, early.text]).toEqual([400, expect.stringContaining('waits 7 days')])
  const member = await memberBrowser(service, merchantId)
  const { approvalId } = await askFor(member, 'fee', { percent: '0.50', fixed: '0' })
  expect((await finance.post(`/change-requests/${approvalId}/approve`)).json.status).toBe('APPROVED')
  const agreed = (await member.get('/payout-terms')).json.fees
  expect(agreed).toContainEqual({ validFrom: today, percent: '0.50', fixed: '0.00' })
})

test('the merchant reads why its request was rejected, and takes back one that waits; neither is approved afterwards', async () => {
  const { merchantId, client } = await newShop(service)
  const member = await memberBrowser(service, merchantId)
  const first = await askFor(member, 'bank-account', NEW)
  const reason = 'the holder is another company'
  await finance.post(`/change-requests/${first.approvalId}/reject`, { reason })
  const second = await askFor(member, 'bank-account', NEW)
  const withdrawn = await member.send('DELETE', `/change-requests/${second.approvalId}`)
  expect(withdrawn.json).toMatchObject({ status: 'WITHDRAWN', decidedBy: `member ${member.memberName}` })
  for (const { approvalId } of [first, second])
    expect((await finance.post(`/change-requests/${approvalId}/approve`)).error).toBe('approval_closed')
  const { bankAccount, requests } = (await member.get('/payout-terms')).json
  expect([bankAccount, requests[1].reason]).toEqual([undefined, reason])
  const stranger = await memberBrowser(service, (await newShop(service)).merchantId)
  const { approvalId } = await askFor(member, 'bank-account', NEW)
  expect((await stranger.send('DELETE', `/change-requests/${approvalId}`)).error).toBe('approval_not_found')
  await expect
    .poll(async () => (await changesOf(client)).map(({ changed }) => changed[0]))
    .toEqual(['changeRequested', 'changeRejected', 'changeRequested', 'changeWithdrawn', 'changeRequested'])
})

test('on the command line they are listed, approved and rejected; console and command line find one by merchant, status and id', async () => {
  const { merchantId } = await newShop(service)
  const member = await memberBrowser(service, merchantId)
  const account = await askFor(member, 'bank-account', NEW)
  const { approvalId } = await askFor(member, 'payment-address', { vpa: 'new.address@bank' })
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await runHere(['admin', 'change-request', ...args, '--json'], env)
    return stdout === '' ? stderr : JSON.parse(stdout)
  }
  const approved = await run('approve', account.approvalId)
  expect(approved).toMatchObject({ merchantId, status: 'APPROVED', ends: '7777' })
  expect(await run('approve', account.approvalId)).toContain('closed')
  expect((await run('list', merchantId)).map((each: Json) => each.approvalId)).toEqual([approvalId])
  expect(await run('reject', approvalId, '--reason', 'another name')).toMatchObject({ status: 'REJECTED' })
  expect(await run('list', merchantId)).toEqual([])
  const all = await run('list', merchantId, '--all')
  expect(all.map(({ status }: Json) => status)).toEqual(['REJECTED', 'APPROVED'])
  const found = async (query: string) =>
    (await finance.get(`/change-requests?${query}`)).json.data.map((each: Json) => each.approvalId)
  expect(await found(`merchantId=${merchantId}&status=REJECTED`)).toEqual([approvalId])
  expect(await found(`q=${account.approvalId}`)).toEqual([account.approvalId])
  const first = (await finance.get(`/change-requests?merchantId=${merchantId}&limit=1`)).json
  expect(first.data).toEqual([all[0]])
  expect(await found(`merchantId=${merchantId}&limit=1&after=${first.next}`)).toEqual([account.approvalId])
})

test('the database takes no approval from the service’s login, no change of what was asked for, and no second decision', async () => {
  const { merchantId } = await newShop(service)
  const { approvalId } = await askFor(await memberBrowser(service, merchantId), 'bank-account', NEW)
  const as = (role: string, set: string) =>
    asSuperuser(service.db.database, async (db) => {
      await db.query(`set role ${role}`)
      await db.query(`set svc.tenants = '${merchantId}'`)
      await db.query(`update svc.change_requests set ${set} where approval_id = $1`, [approvalId])
    })
  await expect(as('svc_service', `outcome = 'APPROVED'`)).rejects.toThrow('decided once, by an operator')
  await expect(as('svc_operator', `account_number = '111111'`)).rejects.toThrow('permission denied')
  await as('svc_operator', `outcome = 'REJECTED', reason = 'no'`)
  await expect(as('svc_operator', `outcome = 'APPROVED'`)).rejects.toThrow('decided once, by an operator')
})
