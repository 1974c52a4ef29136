import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, openApprovers } from '../harness/approvals.ts'
import { notifyTransfer, numberOf, transferTo } from '../harness/bank-rail.ts'
import { adminCli } from '../harness/cli.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import type { TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser

beforeAll(async () => {
  ;({ service, other, asha, ravi } = await openApprovers())
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other.close()
  await service.close()
})

const { svc, done } = adminCli(() => service, {})
const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`

/** A card of 500 rupees that may be unloaded, whose card account has money, and its partner. */
async function newCard(): Promise<{ svcCardId: string; issuer: Client }> {
  const partner = await newPartner(service, { accountType: 'MEAL', fundsPaise: 900_00n })
  const issuer = await asPartner(service.client, partner)
  const account = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
  payloadOf(await issuer.patch(account, { unallocateFundAllowed: true }))
  const transfer = { ...transferTo(await numberOf(service, partner)), amount: 50_000 }
  payloadOf(await notifyTransfer(service.client, transfer))
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  return { svcCardId, issuer }
}

let references = 0
const request = (amount: number, more: object = {}) => ({
  amount,
  referenceNumber: `letter-${++references}`,
  ...more,
})

test('an operator moves money on behalf of a partner within the limit alone, above it with a second person; what both saw is posted', async () => {
  const { svcCardId, issuer } = await newCard()
  const balance = async () => payloadOf(await issuer.get(path(svcCardId))).accountBalance
  const of = (way: 'loads' | 'unloads') => `/cards/${svcCardId}/${way}`
  const reason = { reason: 'asked for by letter' }
  const small = request(400, reason)
  for (let times = 0; times < 2; times++)
    expect((await asha.post(of('loads'), small)).json).toMatchObject({ kind: 'load', balance: 900 })
  for (const [way, kind, after] of [
    ['loads', 'card_reload', 1900],
    ['unloads', 'card_unload', 900],
  ] as const) {
    const large = request(1000, reason)
    const waiting = await asha.post(of(way), large)
    expect(waiting).toMatchObject({ status: 202, json: { kind, amount: '1000.00', request: { svcCardId } } })
    const { approvalId } = waiting.json
    expect((await approve(asha, approvalId)).error).toBe('approval_same_person')
    expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
    expect((await asha.post(of(way), large)).json).toMatchObject({ balance: after })
    expect(await balance()).toBe(after)
  }
  const outdated = request(900, reason)
  const { approvalId } = (await asha.post(of('unloads'), outdated)).json
  payloadOf(await issuer.post(path(svcCardId, '/unloads'), request(1)))
  expect((await approve(ravi, approvalId)).error).toBe('card_balance_too_low')
  expect(await balance()).toBe(899)
  expect((await asha.post(of('loads'), request(1))).error).toBe('validation_failed')
  const support = await signedIn(service, 'support')
  expect((await support.post(of('loads'), request(1, reason))).status).toBe(403)
})

test('the command line loads and unloads cards, and prints the approval that waits', async () => {
  const { svcCardId, issuer } = await newCard()
  const balance = async () => payloadOf(await issuer.get(path(svcCardId))).accountBalance
  const given = (amount: string) => {
    const reference = `cli-${++references}`
    return [svcCardId, '--amount', amount, '--reference', reference, '--reason', 'by letter']
  }
  const move = (way: 'load' | 'unload', amount: string) => svc('cards', way, ...given(amount))
  expect(await done('cards', 'load', ...given('100.50'))).toMatchObject({ kind: 'load', balance: 600.5 })
  expect(await done('cards', 'unload', ...given('0.50'))).toMatchObject({ kind: 'unload', balance: 600 })
  expect((await move('unload', '600.01')).stderr).toContain('600.00 rupees of the card are neither')
  const waiting = await move('load', '1000')
  expect(waiting.out).toMatchObject({ kind: 'card_reload', status: 'PENDING' })
  expect(waiting.stderr).toContain(`svc admin approval approve ${waiting.out.approvalId}`)
  expect(await balance()).toBe(600)
})
