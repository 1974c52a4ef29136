import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  approve,
  fund,
  fundsOf,
  journalIdOf,
  newReference,
  openApprovers,
  sqlOn,
} from '../harness/approvals.ts'
import { payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
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
  await other?.close()
  await service?.close()
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const balanceOf = (partner: TestPartner) => fundsOf(service, partner)
const journalOf = (partner: TestPartner, reference: string) => journalIdOf(service, partner, reference)
const newEmptyPartner = () => newPartner(service, { fundsPaise: 0n })

test('an incorrect funding is reversed once by a mirrored journal with a reason, and its reference may be entered again', async () => {
  const partner = await newEmptyPartner()
  const reference = newReference()
  await fund(asha, partner, '900.00', reference)
  const journalId = await journalOf(partner, reference)
  const path = `/ledger/journals/${journalId}`
  // What one person entered and took back counts twice, so a colleague does.
  const reversal = (await ravi.post(`${path}/reverse`, { reason: 'ninety, not nine hundred' })).json
  expect(reversal).toMatchObject({
    kind: 'journal_reversal',
    reverses: journalId,
    reason: 'ninety, not nine hundred',
    legs: [{ debitAccountId: `card_funding:${partner.cardAccountId}`, amount: '900.00' }],
  })
  expect((await asha.get(path)).json.reversedBy).toBe(reversal.journalId)
  expect((await ravi.post(`${path}/reverse`, { reason: 'again' })).json.journalId).toBe(reversal.journalId)
  expect(await balanceOf(partner)).toBe('0')
  expect((await fund(asha, partner, '90.00', reference)).status).toBe(200)
  expect((await fund(asha, partner, '90.00', reference)).json.balance).toBe('90.00')
  expect((await fund(asha, partner, '91.00', reference)).error).toBe('funding_reference_used')
  expect(await balanceOf(partner)).toBe('9000')
  expect((await asha.post(`/ledger/journals/${reversal.journalId}/reverse`, { reason: 'x' })).text).toContain(
    'enter the posting again',
  )
})

test('a reversal above the limit waits for a second person', async () => {
  const partner = await newEmptyPartner()
  const reference = newReference()
  await approve(ravi, (await fund(asha, partner, '5000.00', reference)).json.approvalId)
  const path = `/ledger/journals/${await journalOf(partner, reference)}/reverse`
  const waiting = await asha.post(path, { reason: 'wrong company' })
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'journal_reversal', amount: '5000.00' } })
  expect(await balanceOf(partner)).toBe('500000')
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
  expect(await balanceOf(partner)).toBe('0')
})

test('a reversal of money loaded on cards meanwhile is rejected with the balance; that of a card load names the command', async () => {
  const partner = await newEmptyPartner()
  const reference = newReference()
  await fund(asha, partner, '900.00', reference)
  payloadOf(await createCard(await asPartner(service.client, partner), partner))
  const path = (journalId: string) => `/ledger/journals/${journalId}/reverse`
  const refused = await asha.post(path(await journalOf(partner, reference)), { reason: 'x' })
  expect(refused).toMatchObject({ status: 409, error: 'journal_not_reversible' })
  expect(refused.text).toContain('has 400.00')
  const [load] = await sql<{ id: string }>(
    `select journal_id as id from journals where tenant_id = $1 and kind = 'card_load'`,
    [partner.partnerId],
  )
  expect((await asha.post(path(load!.id), { reason: 'x' })).error).toBe('journal_not_reversible')
  expect((await asha.post(path('jrn_nothing'), { reason: 'x' })).error).toBe('journal_not_found')
})

test('two processes that reverse one journal at once reverse it once', async () => {
  for (let round = 0; round < 10; round++) {
    const partner = await newEmptyPartner()
    const reference = newReference()
    await fund(asha, partner, '100.00', reference)
    const args = {
      tenantId: partner.partnerId,
      journalId: await journalOf(partner, reference),
      reason: 'twice',
    }
    const both = await Promise.all(
      [service, other, service, other].map(({ app }) =>
        operatorsOf(app.services.commands).open(reverseJournal).run(args),
      ),
    )
    expect(new Set(both.map(({ reversalId }) => reversalId)).size).toBe(1)
    expect(await balanceOf(partner)).toBe('0')
  }
})
