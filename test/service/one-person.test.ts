import { readdir, readFile } from 'node:fs/promises'
import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { sendRefund } from '@svc/core/payments/refunds/send-refund'
import { paise } from '@svc/kernel/money'
import { APPROVED_COMMANDS } from '@svc/server/approvals/approved-commands'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, fund, fundsOf, newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { ALONE } from '../harness/commands-alone.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount, sendPayoutOf } from '../harness/payouts.ts'
import { balancesOf, brokenIn, shopWith } from '../harness/refunds.ts'
import { asSuperuser, type TestService } from '../harness/service.ts'

/** Operations of the permission `finance` that wait for no second person themselves, and why. */
const OPERATIONS_ALONE: Readonly<Record<string, string>> = {
  'console.setBankAccount': 'who set it approves no payout to it',
  'console.setMerchantFee': 'of later payments',
  'console.setPayoutSchedule': 'another person approves what is prepared by it',
  'console.setTaxRegistration': 'moves nothing',
  'console.createBankAccount': 'moves nothing',
  'console.removeBankHoliday': 'moves nothing',
  'console.importSettlement':
    'what fits is one asset for another; a transfer with charges and lines that fit nothing above the limit waits',
  'console.sendBankRun': 'what two have approved, or the merchant has asked for',
  'console.importBankResponses': 'what the bank says in a file; a failure above the limit waits',
  'console.recognizeBankFile': 'moves nothing',
  'console.readBankResponses': 'moves nothing',
  'console.readSettlement': 'moves nothing',
  'console.readStatement': 'moves nothing',
  'console.matchStatementLine': 'what the bank says of our own accounts is what the books have',
  'console.unmatchStatementLine': 'takes back what the match of our own account had posted',
  'console.assignStatementLine': 'moves nothing',
  'console.closeBookMonth': 'moves nothing; despite something open it waits for another person by itself',
  'console.accrueBookMonth': 'enters the fees that the service enters by itself',
  'console.issueTaxDocuments': 'moves nothing',
  'console.importStatement': 'what the bank says of our own accounts; what is resolved by hand waits',
  'console.confirmReturn': 'money that was to be returned has left',
  'console.approvePosting': 'is the second person',
  'console.rejectPosting': 'moves nothing',
  'console.approveChangeRequest': 'is the second person, and approves no payout to it',
  'console.rejectChangeRequest': 'moves nothing',
  'console.runPayouts': 'another person approves each',
  'console.preparePayout': 'another person approves it',
  'console.approvePayout': 'is the second person',
  'console.cancelPayout': 'it was not sent',
  'console.dismissRailNotice': 'moves nothing',
  'console.reopenRailNotice': 'moves nothing',
  'console.voidCoinAllocation': 'takes coins back',
  'console.replaceCard': 'to a new card of the same holder',
  'console.returnCard': 'back to the account that the card was loaded from',
  'console.reverseCardReturn': 'back on the card that it came from',
}

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

test('every command has an approval, or a reason why a person may give it alone', async () => {
  const core = new URL('../../packages/core/src/', import.meta.url)
  const files = (await readdir(core, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const named: string[] = []
  for (const file of files) {
    const text = await readFile(new URL(file, core), 'utf8')
    for (const [, name] of text.matchAll(/(?<!money)\bcommand(?:<[^>]*>)?\(\{\s+name: '(\w+)'/g))
      named.push(name!)
  }
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((name) => !Object.hasOwn(ALONE, name))).toEqual([])
  const kinds = APPROVED_COMMANDS.flatMap(({ approval }) => approval.kinds)
  expect(new Set(kinds).size).toBe(kinds.length)
})

test('every operation that permits finance waits for a second person, or says why not', () => {
  const changing = CONSOLE_OPERATIONS.filter(
    ({ method, permission }) => method !== 'GET' && permission === 'finance',
  )
  const alone = changing.filter(({ accepted }) => !accepted).map(({ id }) => id)
  expect(alone.filter((id) => !Object.hasOwn(OPERATIONS_ALONE, id))).toEqual([])
  const waiting = CONSOLE_OPERATIONS.filter(({ accepted }) => accepted)
  expect(waiting.length).toBeGreaterThan(10)
  for (const { errors, id } of waiting) expect(errors, id).toContain('approval_open')
})

test('twelve fundings below the limit by one person at once, in two processes, stay within the limit together', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  const { partnerId, cardAccountId } = partner
  const args = { partnerId, cardAccountId, amountPaise: paise(90_00n), reason: 'float' }
  const actor = { actor: 'operator maya', target: cardAccountId }
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, i) => {
      const { commands } = (i % 2 === 0 ? service : other).app.services
      return commands.open(fundAccount).run({ ...args, reference: newReference() }, actor)
    }),
  )
  expect(outcomes.filter((outcome) => outcome instanceof WaitingApproval)).toHaveLength(1)
  expect(await fundsOf(service, partner)).toBe('99000')
})

test('what one person posts is that person’s, and what two approved counts for neither', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  expect((await fund(asha, partner, '990.00')).status).toBe(200)
  const waiting = await fund(asha, partner, '90.00')
  expect((await approve(asha, waiting.json.approvalId)).error).toBe('approval_same_person')
  expect((await fund(ravi, partner, '90.00')).status).toBe(200)
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
  expect((await fund(asha, partner, '10.00')).status).toBe(200)
  expect((await fund(asha, partner, '0.01')).status).toBe(202)
})

test('the database counts what one person posts, whatever the program does', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  await fund(asha, partner, '900.00')
  const [{ person }] = (await sqlOn<{ person: string }>(
    service,
    'select person from one_person_postings where tenant_id = $1 and amount_paise = 90000',
    [partner.partnerId],
  )) as [{ person: string }]
  const counted = sqlOn(
    service,
    `insert into one_person_postings (tenant_id, journal_id, person, kind, amount_paise) values ($1, 'jrn_x', $2, 'card_funding', 10001)`,
    [partner.partnerId, person],
  )
  await expect(counted).rejects.toMatchObject({ constraint: 'sums_are_within_limit' })
})

test('the database bounds what one person posts of all tenants together, whatever the program does', async () => {
  const ids: string[] = []
  for (let i = 0; i <= 10; i++) ids.push((await newPartner(service, { fundsPaise: 0n })).partnerId)
  await asSuperuser(service.db.database, async (db) => {
    await db.query('set search_path = svc; begin')
    // The journals would be looked for at COMMIT, which does not come.
    const count = (partnerId: string, amountPaise: number) =>
      db.query(
        `insert into one_person_postings (tenant_id, journal_id, person, kind, amount_paise)
         values ($1, 'jrn_x', 'operator nina', 'card_funding', $2)`,
        [partnerId, amountPaise],
      )
    for (const partnerId of ids.slice(0, 10)) await count(partnerId, 1_000_00)
    await expect(count(ids[10]!, 1)).rejects.toMatchObject({ constraint: 'sums_are_within_limit' })
    await db.query('rollback')
  })
})

test('a refund that was sent, said to have failed without a notice, takes a second person at any amount', async () => {
  const shop = await shopWith(service, 500)
  const refund = await asha.post(`/payments/${shop.paymentId}/refunds`, {
    amount: 1,
    referenceNumber: newReference(),
    reason: 'asked',
  })
  const { refundId } = refund.json
  await operatorsOf(service.app.services.commands)
    .open(sendRefund)
    .run({ merchantId: shop.merchantId, refundId, runId: 'rfr_1' })
  const failed = { status: 'FAILED', reason: 'the bank said no' }
  const waiting = await asha.post(`/refunds/${refundId}/complete`, failed)
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'merchant_refund_failed', amount: '1.00' } })
  expect((await balancesOf(service, shop.merchantId))['payable']).toBe('49900')
  expect((await approve(asha, waiting.json.approvalId)).error).toBe('approval_same_person')
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
})

test('a payout that was sent, said to have failed without a file, takes a second person at any amount', async () => {
  const shop = await shopWith(service, 5)
  await giveAccount(service, shop.merchantId)
  const payoutId = await sendPayoutOf(service, shop.merchantId)
  const waiting = await asha.post(`/payouts/${payoutId}/complete`, { status: 'FAILED', reason: 'said no' })
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'payout_failed', amount: '5.00' } })
  const shown = async () => (await asha.get(`/payouts/${payoutId}`)).json.status
  expect(await shown()).toBe('SENT')
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
  expect(await shown()).toBe('FAILED')
})

test('gift cards that an operator issues count together, and those of the partner do not', async () => {
  const operations = await signedIn(service, 'operations')
  const partner = await newPartner(service, { fundsPaise: 900_00n })
  expect((await fund(ravi, partner, '900.00')).status).toBe(200)
  const issue = () =>
    operations.post(`/card-accounts/${partner.cardAccountId}/cards`, {
      firstName: 'Asha',
      lastName: 'Rao',
      email: 'asha@example.com',
      mobile: '9876543210',
      loadAmount: '400',
      referenceNumber: newReference(),
    })
  const statuses = [await issue(), await issue(), await issue()]
  expect(statuses.map(({ status, error }) => [status, error])).toEqual([
    [200, undefined],
    [200, undefined],
    [403, 'approval_required'],
  ])
  const own = await createCard(await asPartner(service.client, partner), partner, { loadAmount: '400' })
  expect(own.status).toBe(200)
})
