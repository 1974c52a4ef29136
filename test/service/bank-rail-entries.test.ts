import { fundAccount } from '@svc/core/cards/account/fund-account'
import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { carriedOut } from '@svc/core/ledger/money-command'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  fundsOf,
  newTransferUtr,
  notifyTransfer,
  numberOf,
  quarantined,
  transferTo,
} from '../harness/bank-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { brokenIn } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db, background: false })
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as Row[])
const empty = () => newPartner(service, { fundsPaise: 0n })

const enter = async (
  { partnerId, cardAccountId }: TestPartner,
  reference: string,
  rupees: bigint,
  { app }: TestService = service,
) =>
  carriedOut(
    await operatorsOf(app.services.commands)
      .open(fundAccount)
      .run(
        { partnerId, cardAccountId, amountPaise: paise(rupees * 100n), reference, reason: 'by hand' },
        { actor: 'asha', action: 'card_account.funded', target: cardAccountId, tenantId: partnerId },
      ),
  )

test('a transfer that an operator entered before is not credited again; the notice is stored with it', async () => {
  const partner = await empty()
  const number = await numberOf(service, partner)
  const notice = transferTo(number)
  await enter(partner, notice.utr, 1_000n)
  for (let times = 0; times < 2; times++)
    expect(payloadOf(await notifyTransfer(service.client, notice)).status).toBe('ENTERED_BEFORE')
  expect(await fundsOf(service, partner)).toEqual({ balance: '100000', entries: 1 })
  expect(await brokenIn(service)).toEqual([])
})

test('an entry under the reference for another account, amount or partner quarantines the notice', async () => {
  const [partner, outsider] = [await empty(), await empty()]
  const number = await numberOf(service, partner)
  const [otherAmount, otherPartner] = [transferTo(number), transferTo(number)]
  await enter(partner, otherAmount.utr, 999n)
  await enter(outsider, otherPartner.utr, 1_000n)
  for (const notice of [otherAmount, otherPartner])
    expect(quarantined(await notifyTransfer(service.client, notice))).toBe('contradicts_entry')
  expect((await fundsOf(service, partner)).balance).toBe('99900')
})

test('a manual entry after the notice changes nothing; after its reversal the notice still changes nothing', async () => {
  const partner = await empty()
  const notice = transferTo(await numberOf(service, partner))
  payloadOf(await notifyTransfer(service.client, notice))
  await enter(partner, notice.utr, 1_000n)
  await expect(enter(partner, notice.utr, 1_001n)).rejects.toMatchObject({ code: 'funding_reference_used' })
  expect(await fundsOf(service, partner)).toEqual({ balance: '100000', entries: 1 })
  const [{ journal_id: journalId }] = (await sql(
    `select journal_id from journals where tenant_id = $1 and kind = 'card_funding'`,
    [partner.partnerId],
  )) as [Json]
  await operatorsOf(service.app.services.commands)
    .open(reverseJournal)
    .run({ tenantId: partner.partnerId, journalId, reason: 'not ours' }, { actor: 'asha', target: journalId })
  payloadOf(await notifyTransfer(service.client, notice))
  expect((await fundsOf(service, partner)).balance).toBe('0')
})

test('after the reversal of a manual entry the notice credits the transfer, once', async () => {
  const partner = await empty()
  const notice = transferTo(await numberOf(service, partner))
  const { transfer } = await enter(partner, notice.utr, 1_000n)
  const journalId = `jrn_${transfer.transferId.slice(4)}`
  await operatorsOf(service.app.services.commands)
    .open(reverseJournal)
    .run(
      { tenantId: partner.partnerId, journalId, reason: 'too early' },
      { actor: 'asha', target: journalId },
    )
  for (let times = 0; times < 2; times++)
    expect(payloadOf(await notifyTransfer(service.client, notice)).status).toBe('CREDITED')
  await enter(partner, notice.utr, 1_000n)
  expect(await fundsOf(service, partner)).toEqual({ balance: '100000', entries: 3 })
  expect(await brokenIn(service)).toEqual([])
})

test('a notice and a manual entry at once, in two processes, credit once', async () => {
  const partner = await empty()
  const number = await numberOf(service, partner)
  for (let round = 1; round <= 20; round++) {
    const notice = transferTo(number, { amount: 1 })
    const [, sent] = await Promise.all([
      enter(partner, notice.utr, 1n, round % 2 ? service : other),
      notifyTransfer((round % 2 ? other : service).client, notice),
    ])
    expect(['CREDITED', 'ENTERED_BEFORE']).toContain(payloadOf(sent).status)
    expect(await fundsOf(service, partner)).toEqual({ balance: String(round * 100), entries: round })
  }
  expect(await brokenIn(service)).toEqual([])
})

test('above the limit a signed notice is credited, and an operator’s interpretation of one needs a second person', async () => {
  const env = { APPROVAL_ABOVE_RUPEES: '100' }
  const limited = await openService({ env })
  const partner = await newPartner(limited, { fundsPaise: 0n })
  const number = await numberOf(limited, partner)
  payloadOf(await notifyTransfer(limited.client, transferTo(number, { amount: 5_000 })))
  expect((await fundsOf(limited, partner)).balance).toBe('500000')
  const unread = await notifyTransfer(limited.client, transferTo('SVCP99'))
  const { noticeId } = unread.json.payload
  const finance = await signedIn(limited, 'finance')
  const colleague = await signedIn(limited, 'finance')
  const funds = `/card-accounts/${partner.cardAccountId}/funds`
  const reading = { amount: '1000', reference: newTransferUtr(), reason: 'typed wrongly', noticeId }
  const submitted = await finance.post(funds, reading)
  expect(submitted.status).toBe(202)
  expect((await finance.get(`/rail-notices/${noticeId}`)).json.status).toBe('QUARANTINED')
  const approved = await colleague.post(`/approvals/${submitted.json.approvalId}/approve`, {})
  expect(approved.status, approved.text).toBe(200)
  expect((await finance.get(`/rail-notices/${noticeId}`)).json).toMatchObject({
    status: 'ASSIGNED',
    cardAccountId: partner.cardAccountId,
  })
  expect((await fundsOf(limited, partner)).balance).toBe('600000')
  expect((await finance.post(funds, reading)).error).toBe('notice_not_in_quarantine')
  await limited.close()
})
