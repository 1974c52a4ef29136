import { permits, ROLES } from '@svc/console-api/identity/permissions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { newDispute } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { memberBrowser } from '../harness/portal.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let viewer: Browser
let things: Record<string, string>
const utr = newUtr()

beforeAll(async () => {
  service = await openService()
  viewer = await signedIn(service, 'viewer')
  const merchant = await service.newMerchant({ name: 'Śrī Gaṇeśa General-Stores, Pune' })
  const client = await service.as(merchant)
  const code = await newCode(service, client, {
    referenceNumber: 'Order 77/B',
    qrName: 'Counter by the window',
    multipleUse: true,
  })
  const payer = 'Priya.Nair@okbank'
  const { paymentId } = payloadOf(
    await notifyCredit(service.client, creditOf(code.tr, { utr, payerVpa: payer })),
  )
  const large = await notifyCredit(service.client, creditOf(code.tr, { amount: 124_517.25 }))
  const dispute = await newDispute(service, paymentId, { caseReference: 'UPI-CB-2611-07' })
  const refund = { amount: 1, referenceNumber: 'Return-9' }
  const { refundId } = payloadOf(await client.post(`/api/v0/payments/${paymentId}/refunds`, refund))
  const partner = await newPartner(service)
  const { svcCardId, userId } = payloadOf(
    await createCard(await asPartner(service.client, partner), partner, {
      mobile: '9812345670',
      email: 'Asha.Rao@Example.com',
    }),
  )
  const masked = (await viewer.get(`/cards?q=${svcCardId}`)).json.data[0].maskedNumber as string
  things = {
    merchant: merchant.merchantId,
    qrCode: code.qrCodeId,
    payment: paymentId,
    refund: refundId,
    card: svcCardId,
    user: userId,
    lastFour: masked.slice(-4),
    dispute,
    amountOf: payloadOf(large).paymentId,
    payer,
  }
})
afterAll(() => service.close())

const search = async (q: string): Promise<string[]> =>
  (await viewer.get(`/search?q=${encodeURIComponent(q)}`)).json.results.map(
    ({ kind, id }: Json) => `${kind} ${id}`,
  )

test('each object is found by what people have at hand: ids, references in any spelling, digits, mobile, e-mail, words of names', async () => {
  const dashed = `${utr.slice(0, 4)}-${utr.slice(4, 9)} ${utr.slice(9)}`
  const cases: readonly (readonly [kind: string, ...queries: string[]])[] = [
    ['merchant', things['merchant']!, 'Śrī', 'STORES', 'general pune', 'stores, pu'],
    ['qrCode', things['qrCode']!, 'Order 77/B', 'counter by', 'COUNTER'],
    ['payment', things['payment']!, utr, utr.toLowerCase(), dashed, things['payer']!, 'priya.nair@OKBANK'],
    ['refund', things['refund']!, 'Return-9'],
    ['dispute', things['dispute']!, 'UPI-CB-2611-07', 'upi-cb-2611-07'],
    ['amountOf', '1,24,517.25', '124517.25', '₹124,517.25'],
    ['card', things['card']!, things['lastFour']!],
    [
      'user',
      '9812345670',
      '+919812345670',
      '+91 98123 45670',
      '09812345670',
      'asha.rao@example.com',
      'ASHA.Rao@example.com',
    ],
  ]
  for (const [kind, ...queries] of cases)
    for (const q of queries)
      expect([q, await search(q)]).toEqual([q, [`${kind === 'amountOf' ? 'payment' : kind} ${things[kind]}`]])
})

test('a payment is found by its amount and the hour or minute that people name, and not by another hour', async () => {
  const at = (hoursBefore: number, minute?: '2-digit') =>
    new Date(Date.now() - hoursBefore * 3_600_000)
      .toLocaleTimeString('en-US', { timeZone: 'Asia/Kolkata', hour: 'numeric', minute })
      .replace(/\s/g, ' ')
  const found = [`payment ${things['amountOf']}`]
  expect(await search(`1,24,517.25 ${at(0, '2-digit')}`)).toEqual(found)
  expect(await search(`124517.25 at ${at(0, '2-digit').toLowerCase()}`)).toEqual(found)
  expect(await search(`₹124517.25, ${at(0, '2-digit').replace(' ', '')}`)).toEqual(found)
  expect(await search(`1,24,517.25 ${at(3)}`)).toEqual([])
  expect(await search(`1,24,517.24 ${at(0, '2-digit')}`)).toEqual([])
})

test('roles that reveal nothing find people by the whole e-mail address alone, never by parts of it', async () => {
  for (const role of ROLES) {
    const browser = await signedIn(service, role)
    /** Whether users, cards, the export of users and the search find someone. */
    const found = async (text: string) => {
      const q = encodeURIComponent(text)
      return [
        (await browser.get(`/users?q=${q}`)).json.data.length > 0,
        (await browser.get(`/cards?q=${q}`)).json.data.length > 0,
        (await browser.get(`/users.csv?q=${q}`)).text.trim().includes('\n'),
        (await browser.get(`/search?q=${q}`)).json.results.length > 0,
      ]
    }
    const [all, none] = [Array(4).fill(true), Array(4).fill(false)]
    expect([role, await found('ASHA.Rao@example.com')]).toEqual([role, all])
    for (const begin of ['asha.rao@', 'Asha.rao@example.co'])
      expect([role, begin, await found(begin)]).toEqual([role, begin, permits(role, 'reveal') ? all : none])
    for (const pattern of ['asha.ra_@example.com', '%@example.com', 'sha.rao@example.com'])
      expect([role, pattern, await found(pattern)]).toEqual([role, pattern, none])
  }
})

test('a payer is found by the whole UPI ID alone, and not shown', async () => {
  for (const part of ['priya.nair@', 'priya.nair@okban', 'nair@okbank', '%@okbank', 'priya_nair@okbank'])
    expect([part, await search(part)]).toEqual([part, []])
  const { results } = (await viewer.get(`/search?q=${encodeURIComponent(things['payer']!)}`)).json
  expect(results).toHaveLength(1)
  expect(JSON.stringify(results).toLowerCase()).not.toContain('priya')
})

test('a member finds by the same search what is the tenant’s own, a refund with its payment, and nothing of another tenant', async () => {
  const owner = await memberBrowser(service, things['merchant']!, 'viewer')
  const partner = await newPartner(service)
  const { svcCardId, maskedNumber, userId } = payloadOf(
    await createCard(await asPartner(service.client, partner), partner, { mobile: '9812345671' }),
  )
  const issuer = await memberBrowser(service, partner.partnerId, 'viewer')
  const own = async (member: Browser, q: string): Promise<Json[]> =>
    (await member.get(`/search?q=${encodeURIComponent(q)}`)).json.results
  const cases: readonly (readonly [string, Json])[] = [
    [utr.toLowerCase(), { kind: 'payment', id: things['payment'] }],
    ['1,24,517.25', { kind: 'payment', id: things['amountOf'] }],
    ['Order 77/B', { kind: 'qrCode', id: things['qrCode'] }],
    ['counter', { kind: 'qrCode', id: things['qrCode'] }],
    [things['payer']!, { kind: 'payment', id: things['payment'] }],
    ['Return-9', { kind: 'refund', id: things['refund'], of: things['payment'] }],
    ['upi-cb-2611-07', { kind: 'dispute', id: things['dispute'] }],
  ]
  for (const [q, found] of cases) {
    expect(await own(owner, q), q).toContainEqual(expect.objectContaining(found))
    expect(await own(issuer, q), q).toEqual([])
  }
  expect(await own(issuer, maskedNumber.slice(-4))).toMatchObject([{ kind: 'card', id: svcCardId }])
  for (const q of ['9812345671', '+91 98123 45671'])
    expect(await own(issuer, q)).toMatchObject([{ kind: 'user', id: userId }])
  // Of another partner.
  expect(await own(issuer, '9812345670')).toEqual([])
  expect(await own(owner, svcCardId)).toEqual([])
  expect(await own(owner, things['merchant']!)).toEqual([])
})

test('ids are named as the search names them, to a member those of its tenant alone', async () => {
  const owner = await memberBrowser(service, things['merchant']!, 'viewer')
  const other = await memberBrowser(service, (await newPartner(service)).partnerId, 'viewer')
  const named = async (from: Browser, ids: readonly string[]): Promise<string[]> =>
    (await from.get(`/names?ids=${ids.join(',')}`)).json.results.map(({ id }: Json) => id)
  const ids = [things['payment']!, things['refund']!, things['dispute']!, things['qrCode']!]
  expect(await named(viewer, [...ids, things['merchant']!, 'pay_none', 'none'])).toEqual([
    ...ids,
    things['merchant'],
  ])
  expect(await named(owner, [...ids, things['merchant']!])).toEqual(ids)
  expect(await named(other, ids)).toEqual([])
  const many = Array.from({ length: 51 }, (_, n) => `pay_${n}`).join(',')
  expect((await viewer.get(`/names?ids=${many}`)).error).toBe('validation_failed')
})

test('text that has a meaning in a text search or a pattern is plain text', async () => {
  for (const q of [
    `'`,
    `'':*`,
    'a & b',
    '!stores',
    'stores | x',
    '%%',
    '__',
    '\\\\',
    'stores:*',
    `') or 1=1 --`,
  ]) {
    const { status } = await viewer.get(`/search?q=${encodeURIComponent(q.padEnd(2))}`)
    expect([q, status]).toEqual([q, 200])
  }
  expect(await search('!pune')).toEqual([`merchant ${things['merchant']}`])
})

test('every lookup of the search has an index that serves it', async () => {
  const { NEWEST_READ, SOURCES } = await import('@svc/console-api/faces/search-sources')
  await asSuperuser(service.db.database, async (db) => {
    await db.query('set search_path = svc; set enable_seqscan = off')
    for (const { statement } of SOURCES) {
      const name = statement.name
      const { rows } = await db.query(`explain ${statement.text.replaceAll('$1', `'11'`)}`)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan, `${name}\n${plan}`).not.toMatch(/Seq Scan/)
      const isOfNewest = statement.text.includes(`limit ${NEWEST_READ}`)
      expect(plan, `${name}\n${plan}`).toMatch(isOfNewest ? /Limit/ : /Index Cond/)
    }
  })
})
