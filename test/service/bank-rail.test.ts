import { signNotice } from '@svc/server/http/notice-signature'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  BANK_CREDITS,
  fundsOf,
  instructionsOf,
  newTransferUtr,
  notifyTransfer,
  numberOf,
  quarantined,
  transferTo,
} from '../harness/bank-rail.ts'
import { type ApiResponse, type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { oddNotices, UNREADABLE } from '../harness/odd-notices.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import { asSuperuser, BANK_RAIL_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

const NEXT_KEY = 'the-next-key-of-the-bank-rail-0123456789'
const ADAPTER = {
  fields: {
    utr: 'Txn.UTR',
    amount: 'Txn.Amount',
    virtualAccount: 'Txn.BeneAccount',
    remitterName: 'Remitter.Name',
    remitterAccount: 'Remitter.Account',
    mode: 'Txn.Mode',
  },
  amountUnit: 'paise',
  signature: { header: 'x-bank-signature', scheme: 'body-hex' },
}

let service: TestService
let other: TestService
beforeAll(async () => {
  const env = {
    BANK_RAIL_KEYS: `${BANK_RAIL_KEY},${NEXT_KEY}`,
    RAIL_ADAPTERS: JSON.stringify({ axis: ADAPTER }),
  }
  service = await openService({ env })
  other = await openService({ db: service.db, background: false, env })
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const send = (text: string, type?: string, key = BANK_RAIL_KEY): Promise<ApiResponse> =>
  service.client.send('POST', BANK_CREDITS, text, {
    ...(type && { 'content-type': type }),
    'x-rail-signature': signNotice(Buffer.from(text), key, service.clock.now()),
  })

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as Row[])

const empty = () => newPartner(service, { fundsPaise: 0n })

test('every card account has one number, also when many requests ask for it first at once in two processes', async () => {
  const partner = await empty()
  const clients = [await asPartner(service.client, partner), await asPartner(other.client, partner)]
  const read = await Promise.all(
    Array.from({ length: 40 }, (_, i) => instructionsOf(clients[i % 2]!, partner.cardAccountId)),
  )
  const numbers = new Set(read.map(({ virtualAccountNumber }) => virtualAccountNumber))
  expect(numbers.size).toBe(1)
  expect([...numbers][0]).toMatch(/^SVCP\d{12}$/)
  expect(read[0]).toMatchObject({ ifsc: 'SBOX0000001', modes: ['NEFT', 'RTGS', 'IMPS'] })
  const stored = await sql('select from virtual_accounts where card_account_id = $1', [partner.cardAccountId])
  expect(stored).toHaveLength(1)
  expect(await numberOf(service, await empty())).not.toBe([...numbers][0])
})

test('a transfer that the bank notifies is credited to the card account once, however often it is notified and however it is spelled', async () => {
  const partner = await empty()
  const number = await numberOf(service, partner)
  const notice = transferTo(number, { amount: '2500.50' })
  const first = payloadOf(await notifyTransfer(service.client, notice))
  expect(first).toMatchObject({ cardAccountId: partner.cardAccountId, amount: 2500.5, status: 'CREDITED' })
  const spelled = {
    ...notice,
    utr: `${notice.utr.slice(0, 5).toLowerCase()}-${notice.utr.slice(5)}`,
    virtualAccount: `${number.slice(0, 4).toLowerCase()} ${number.slice(4)}`,
    remarks: { deep: [1] },
  }
  const repeats = await Promise.all(
    [service, other, service, other].map(({ client }, i) => notifyTransfer(client, i < 2 ? notice : spelled)),
  )
  expect(new Set(repeats.map((each) => payloadOf(each).creditId))).toEqual(new Set([first.creditId]))
  expect(await fundsOf(service, partner)).toEqual({ balance: '250050', entries: 1 })
  const journals = await sql('select kind, reference from journals where tenant_id = $1', [partner.partnerId])
  expect(journals).toEqual([{ kind: 'card_funding', reference: notice.utr }])
  const client = await asPartner(service.client, partner)
  await expect
    .poll(async () => payloadOf(await client.get('/api/v0/events')).data)
    .toMatchObject([
      { type: 'card_account.funded', data: { amount: 2500.5, balance: 2500.5, reference: notice.utr } },
    ])
  expect(await brokenIn(service)).toEqual([])
})

test('two keys are valid at once; a wrong signature, also of another rail, is 401 and leaves nothing behind', async () => {
  const partner = await empty()
  const notice = JSON.stringify(transferTo(await numberOf(service, partner)))
  for (const key of [RAIL_KEY, 'not-the-key-0123456789-0123456789'])
    expect((await send(notice, 'application/json', key)).error).toBe('invalid_signature')
  expect(await fundsOf(service, partner)).toEqual({ balance: '0', entries: 0 })
  expect(service.logged()).toMatch(/"bodySha256":"[0-9a-f]{64}".*"keysTried":2/)
  payloadOf(await send(notice, 'application/json', NEXT_KEY))
  expect((await fundsOf(service, partner)).entries).toBe(1)
})

test('a bank with another format and signature is read by its adapter', async () => {
  const partner = await empty()
  const body = JSON.stringify({
    Txn: {
      UTR: newTransferUtr(),
      Amount: 123_45,
      BeneAccount: await numberOf(service, partner),
      Mode: 'RTGS',
    },
    Remitter: { Name: 'Acme', Account: '912010012345678' },
  })
  const { createHmac } = await import('node:crypto')
  const signature = createHmac('sha256', BANK_RAIL_KEY).update(body).digest('hex')
  const sent = await service.client.send('POST', `${BANK_CREDITS}?bank=axis`, body, {
    'content-type': 'application/json',
    'x-bank-signature': signature,
  })
  expect(payloadOf(sent)).toMatchObject({ amount: 123.45, status: 'CREDITED' })
  expect(await fundsOf(service, partner)).toEqual({ balance: '12345', entries: 1 })
})

test.each(UNREADABLE)(
  'a signed notice that is %s is quarantined once, and is stored byte for byte',
  async (_, text, type, reason) => {
    // The same bytes over the UPI rail are another notice.
    await service.client.send('POST', '/rails/upi/credits', text, {
      ...(type && { 'content-type': type }),
      'x-rail-signature': signNotice(Buffer.from(text), RAIL_KEY, service.clock.now()),
    })
    const responses = [await send(text, type), await send(text, type)]
    for (const response of responses) expect(quarantined(response)).toBe(reason)
    const [{ noticeId }] = responses.map(({ json }) => json.payload) as [Json]
    const kept = await sql<{ body: Buffer; flags: string[] }>(
      'select body, flags from rail_notices where notice_id = $1',
      [noticeId],
    )
    expect(kept.map(({ body, flags }) => [body.toString(), flags])).toEqual([[text, ['transfer_notice']]])
  },
)

test('no unusual notice is rejected or lost: each is a credit, a repeat, or in quarantine', async () => {
  const partner = await empty()
  const number = await numberOf(service, partner)
  const right = { ...transferTo(number), transactionTime: '2026-04-01T10:00:00+05:30' }
  const outcomes = await Promise.all(
    oddNotices(right).map(async (notice) => {
      const isOdd = notice['utr'] !== right.utr
      const text = JSON.stringify(isOdd ? notice : { ...notice, utr: newTransferUtr() })
      const { status, json } = await send(text, 'application/json')
      expect([200, 202], text).toContain(status)
      return { text, id: json.payload.creditId ?? json.payload.noticeId }
    }),
  )
  const known = await sql<{ id: string }>(
    `select credit_id as id from bank_credits union all select notice_id from rail_notices`,
  )
  const ids = new Set(known.map(({ id }) => id))
  expect(outcomes.filter(({ id }) => !ids.has(id))).toEqual([])
  expect(outcomes.some(({ id }) => id.startsWith('bcr_'))).toBe(true)
  expect(outcomes.some(({ id }) => id.startsWith('rnt_'))).toBe(true)
  expect(await brokenIn(service)).toEqual([])
})

test('a notice that contradicts an earlier one with its reference, or names no account, is quarantined', async () => {
  const [partner, outsider] = [await empty(), await empty()]
  const number = await numberOf(service, partner)
  const notice = transferTo(number)
  payloadOf(await notifyTransfer(service.client, notice))
  for (const change of [
    { amount: 1_000.01 },
    { virtualAccount: await numberOf(service, outsider) },
    { remitterAccount: '50100099887766' },
  ])
    expect(quarantined(await notifyTransfer(service.client, { ...notice, ...change }))).toBe(
      'contradicts_earlier_notice',
    )
  for (const virtualAccount of ['SVCP000000000000', '', `${number}0`])
    expect(quarantined(await notifyTransfer(service.client, transferTo(virtualAccount)))).toBe(
      'unknown_virtual_account',
    )
  expect(await fundsOf(service, partner)).toEqual({ balance: '100000', entries: 1 })
  expect(await fundsOf(service, outsider)).toEqual({ balance: '0', entries: 0 })
})

test.each(['RETURNED', ' refunded '])(
  'a notice that a transfer was %s credits nothing and waits for an operator, also if the transfer was credited before',
  async (status) => {
    const partner = await empty()
    const credited = transferTo(await numberOf(service, partner))
    payloadOf(await notifyTransfer(service.client, credited))
    const operator = await signedIn(service, 'admin')
    for (const utr of [credited.utr, newTransferUtr()]) {
      expect(quarantined(await notifyTransfer(service.client, { ...credited, utr, status }))).toBe(
        'wrong_route',
      )
      const listed = await operator.get(`/rail-notices?status=QUARANTINED&q=${utr}`)
      expect(listed.json.data).toMatchObject([{ utr, reason: 'wrong_route' }])
    }
    expect(await fundsOf(service, partner)).toEqual({ balance: '100000', entries: 1 })
    payloadOf(
      await notifyTransfer(service.client, { ...transferTo(credited.virtualAccount), status: 'SUCCESS' }),
    )
    expect(await fundsOf(service, partner)).toEqual({ balance: '200000', entries: 2 })
  },
)

test('one reference for two partners at once is credited to one of them; the other notice is quarantined', async () => {
  const [one, two] = [await empty(), await empty()]
  const numbers = [await numberOf(service, one), await numberOf(service, two)]
  for (let round = 0; round < 10; round++) {
    const utr = newTransferUtr()
    const sent = await Promise.all(
      [service, other].map(({ client }, i) => notifyTransfer(client, transferTo(numbers[i]!, { utr }))),
    )
    expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 202])
  }
  const balances = [await fundsOf(service, one), await fundsOf(service, two)]
  expect(balances.reduce((sum, { balance }) => sum + Number(balance), 0)).toBe(10 * 1_000_00)
  expect(await brokenIn(service)).toEqual([])
})

test('after a transfer raises the balance above the threshold, the next load below it is announced again', async () => {
  const partner = await empty()
  const number = await numberOf(service, partner)
  const client = await asPartner(service.client, partner)
  const path = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
  payloadOf(await client.patch(path, { lowBalance: 1_000 }))
  for (let times = 1; times <= 2; times++) {
    payloadOf(await notifyTransfer(service.client, transferTo(number, { amount: 1_100 })))
    for (const loadAmount of [500, 500, 100]) payloadOf(await createCard(client, partner, { loadAmount }))
  }
  await expect
    .poll(async () => {
      const { data } = payloadOf(await client.get('/api/v0/events?limit=500'))
      return data.filter(({ type }: Json) => type === 'card_account.low').length
    })
    .toBe(2)
})

test('operators see remitters masked; a reveal shows the notice, and viewers see no notices', async () => {
  const partner = await empty()
  const notice = transferTo(await numberOf(service, partner))
  payloadOf(await notifyTransfer(service.client, notice))
  const wrong = await notifyTransfer(service.client, { ...notice, amount: 2 })
  const { noticeId } = wrong.json.payload
  const operator = await signedIn(service, 'admin')
  const listed = await operator.get(`/bank-credits?cardAccountId=${partner.cardAccountId}`)
  expect(listed.json.data).toMatchObject([{ utr: notice.utr, remitterAccount: '••••5678', mode: 'NEFT' }])
  for (const path of [`/rail-notices?q=${notice.utr}`, `/rail-notices/${noticeId}`]) {
    const { text } = await operator.get(path)
    expect(text).toContain(notice.utr)
    expect(text).not.toMatch(/Acme|912010012345678/)
  }
  expect(listed.text).not.toMatch(/Acme|912010012345678/)
  const revealed = await operator.post('/personal-data/reveals', { objectId: noticeId, reason: 'bank asks' })
  expect(revealed.status).toBe(200)
  expect((await operator.get(`/rail-notices/${noticeId}`)).json.body).toContain('Acme')
  const about = await operator.get(`/card-accounts/${partner.cardAccountId}/funding-instructions`)
  expect(about.json.virtualAccountNumber).toBe(notice.virtualAccount)
  const viewer = await signedIn(service, 'viewer')
  expect((await viewer.get(`/rail-notices/${noticeId}`)).status).toBe(403)
})

test('the sandbox’s bank transfers over the same rail; a transfer to an unknown number is shown in quarantine', async () => {
  const partner = await empty()
  const number = await numberOf(service, partner)
  const transfer = { virtualAccountNumber: number, amount: 750, duplicates: 2 }
  const sent = payloadOf(await service.client.post('/sandbox/bank/transfers', transfer))
  expect(sent).toMatchObject({ notices: 3, status: 200, response: { status: 'CREDITED' } })
  expect(await fundsOf(service, partner)).toEqual({ balance: '75000', entries: 1 })
  const lost = { virtualAccountNumber: 'NOBODYS', amount: 1 }
  expect(payloadOf(await service.client.post('/sandbox/bank/transfers', lost))).toMatchObject({
    status: 202,
    response: { reason: 'unknown_virtual_account' },
  })
})
