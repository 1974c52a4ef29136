import { fundAccount } from '@svc/core/cards/account/fund-account'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import { paise } from '@svc/kernel/money'
import { tenantSet } from '@svc/platform/db/database'
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
import { notifyTransfer, numberOf, transferTo } from '../harness/bank-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import type { Browser } from '../harness/console.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { creditOf, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import { MASTER_KEY, type TestService } from '../harness/service.ts'

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

test('up to the limit one operator posts alone; above it the posting waits until a second person posts it', async () => {
  const partner = await newEmptyPartner()
  expect((await fund(asha, partner, '1000.00')).status).toBe(200)
  const waiting = await fund(asha, partner, '1000.01')
  expect(waiting).toMatchObject({ status: 202, json: { status: 'PENDING', amount: '1000.01' } })
  expect(await balanceOf(partner)).toBe('100000')
  const { approvalId } = waiting.json
  expect((await approve(asha, approvalId)).error).toBe('approval_same_person')
  expect((await approve(ravi, approvalId)).json).toMatchObject({
    status: 'POSTED',
    journalId: expect.any(String),
  })
  expect(await balanceOf(partner)).toBe('200001')
  // Again, after a failure in between: it is posted once.
  expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
  expect(await balanceOf(partner)).toBe('200001')
})

test('a repeat of a request returns the waiting one, another request with its reference is rejected', async () => {
  const partner = await newEmptyPartner()
  const reference = newReference()
  const first = await fund(asha, partner, '5000.00', reference)
  expect((await fund(ravi, partner, '5000.00', reference)).json.approvalId).toBe(first.json.approvalId)
  expect((await fund(asha, partner, '6000.00', reference)).error).toBe('approval_open')
})

test('two requests at the same instant, in two processes, both return the waiting one', async () => {
  for (let round = 0; round < 10; round++) {
    const partner = await newEmptyPartner()
    const { partnerId, cardAccountId } = partner
    const funding = { partnerId, cardAccountId, amountPaise: paise(5_000_00n), reason: 'float' }
    const reference = newReference()
    const both = await Promise.all(
      [service, other].map(({ app }) =>
        app.services.commands
          .open(fundAccount)
          .run({ ...funding, reference }, { actor: 'operator asha', target: cardAccountId }),
      ),
    )
    const ids = both.map((each) => each instanceof WaitingApproval && each.approval.approvalId)
    expect(ids[0]).toMatch(/^apv_/)
    expect(ids[1]).toBe(ids[0])
  }
})

test('a rejected or withdrawn posting is not posted, and may be requested again', async () => {
  const partner = await newEmptyPartner()
  const reference = newReference()
  const { approvalId } = (await fund(asha, partner, '5000.00', reference)).json
  expect((await asha.post(`/approvals/${approvalId}/reject`, {})).json.status).toBe('REJECTED')
  expect((await approve(ravi, approvalId)).error).toBe('approval_closed')
  const again = (await fund(asha, partner, '5000.00', reference)).json
  expect(again.approvalId).not.toBe(approvalId)
  expect((await approve(ravi, again.approvalId)).json.status).toBe('POSTED')
  expect(await balanceOf(partner)).toBe('500000')
})

test('an expired approval approves nothing', async () => {
  const partner = await newEmptyPartner()
  const { approvalId } = (await fund(asha, partner, '5000.00')).json
  // Without the trigger that keeps what was requested.
  await sql(
    `set session_replication_role = replica;
     update approvals set expires_at = now() - interval '1 second' where approval_id = '${approvalId}'`,
  )
  expect((await approve(ravi, approvalId)).error).toBe('approval_closed')
  const { data } = (await asha.get('/approvals?status=ALL')).json
  expect(data.find((row: Json) => row.approvalId === approvalId).status).toBe('EXPIRED')
  expect(await balanceOf(partner)).toBe('0')
})

test('two processes that approve one posting at once post it once', async () => {
  for (let round = 0; round < 10; round++) {
    const partner = await newEmptyPartner()
    const { approvalId } = (await fund(asha, partner, '2000.00')).json
    const both = await Promise.all([
      approve(ravi, approvalId),
      approve(ravi, approvalId),
      approve(ravi, approvalId),
    ])
    for (const { status } of both) expect(status).toBe(200)
    expect(await balanceOf(partner)).toBe('200000')
  }
})

test('the database rejects a posting above the limit without its approval, regardless of who inserts it', async () => {
  const partner = await newEmptyPartner()
  const { approvalId } = (await fund(asha, partner, '5000.00')).json
  const post = (amount: number, reference: string, role = 'svc_operator') =>
    sql(
      `begin; set local role ${role}; set local svc.tenants = '${tenantSet([partner.partnerId])}';
       with entered as (insert into journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
         values ('${partner.partnerId}', 'jrn_${reference}', 'card_funding', current_date, '${reference}', 1, now()))
       insert into ledger_transfers values ('trf_${reference}', '${partner.partnerId}', 'jrn_${reference}', 1,
         'card_funding', 'funding_clearing:${partner.partnerId}', 'card_funding:${partner.cardAccountId}', ${amount},
         'INR', '${partner.cardAccountId}', now()); rollback`,
    ).then(
      () => 'taken',
      (error: { constraint?: string; message: string }) => error.constraint ?? error.message,
    )
  // Within the limit it counts among what a person posted.
  expect(await post(100_000, 'SMALL0001')).toBe('postings_are_counted')
  for (const role of ['svc_operator', 'svc_service'])
    expect(await post(100_001, `LARGE0001${role}`, role)).toBe('postings_are_approved')
  const own = sql(
    `update approvals set outcome = 'APPROVED', decided_by = requested_by, decided_at = now() where approval_id = $1`,
    [approvalId],
  )
  await expect(own).rejects.toMatchObject({ constraint: 'approved_by_another_person' })
  const posted = sql(`update approvals set journal_id = 'jrn_x' where approval_id = $1`, [approvalId])
  await expect(posted).rejects.toMatchObject({ constraint: 'posted_when_approved' })
})

test('a funding whose legs or journal have another kind is rejected above the limit', async () => {
  const { cardAccountId, partnerId } = await newEmptyPartner()
  const disguised = (journal: string, leg: string) =>
    sql(
      `begin; set local role svc_service; set local svc.tenants = '${tenantSet([partnerId])}';
       insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
         values ('${partnerId}', 'jrn_other', '${journal}', current_date, 1, now());
       insert into ledger_transfers values ('trf_other', '${partnerId}', 'jrn_other', 1, '${leg}',
         'funding_clearing:${partnerId}', 'card_funding:${cardAccountId}', 900000, 'INR', '${cardAccountId}', now());
       rollback`,
    )
  for (const [journal, leg] of [
    ['card_funding', 'card_load'],
    ['card_load', 'card_funding'],
  ] as const)
    await expect(disguised(journal, leg)).rejects.toMatchObject({ constraint: 'postings_are_permitted' })
})

test.each([
  ['its journal is taken away', `journal_id = null`, ['svc_service', 'svc_operator']],
  ['it is given to another journal', `journal_id = 'jrn_other'`, ['svc_service', 'svc_operator']],
  ['its amount changes', `amount_paise = 1`, ['svc_owner']],
  ['its reference changes', `reference = 'HDFC99999999'`, ['svc_owner']],
  ['who requested it changes', `requested_by = 'operator nobody'`, ['svc_owner']],
  ['it is rejected afterwards', `outcome = 'REJECTED'`, ['svc_operator']],
])('a used approval approves nothing else: %s', async (_, change, roles) => {
  const partner = await newEmptyPartner()
  const { approvalId } = (await fund(asha, partner, '5000.00')).json
  expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
  for (const role of roles)
    await expect(
      sql(
        `begin; set local role ${role}; set local svc.tenants = '${tenantSet([partner.partnerId])}';
         update approvals set ${change} where approval_id = '${approvalId}'; commit`,
      ),
    ).rejects.toMatchObject({ constraint: 'approvals_are_final' })
})

test('an approved posting that cannot be posted is rejected, and never posted', async () => {
  const partner = await newEmptyPartner()
  const reference = newReference()
  const { approvalId } = (await fund(asha, partner, '5000.00', reference)).json
  // Meanwhile the reference was entered with what fits under the limit.
  expect((await fund(asha, partner, '500.00', reference)).status).toBe(200)
  expect((await approve(ravi, approvalId)).status).toBe(409)
  const open = async () => {
    const { data } = (await ravi.get('/approvals')).json
    return data.filter((row: Json) => row.approvalId === approvalId).map(({ status }: Json) => status)
  }
  expect(await open()).toEqual(['APPROVED'])
  const rejected = await ravi.post(`/approvals/${approvalId}/reject`, {})
  expect(rejected.json).toMatchObject({ status: 'REJECTED', decidedBy: expect.stringMatching(/^operator /) })
  expect(await open()).toEqual([])
  expect((await approve(asha, approvalId)).status).toBe(403)
  expect((await approve(ravi, approvalId)).error).toBe('approval_closed')
  expect(await balanceOf(partner)).toBe('50000')
})

test('what the bank notified in the meantime is not posted again: the request ends, and a repeat reports it and needs no second person', async () => {
  const [partner, reference] = [await newEmptyPartner(), newReference()]
  const { approvalId } = (await fund(asha, partner, '5000.00', reference)).json
  const transfer = transferTo(await numberOf(service, partner), { amount: 5_000, utr: reference })
  payloadOf(await notifyTransfer(service.client, transfer))
  const { json } = await approve(ravi, approvalId)
  expect([json.status, json.journalId]).toEqual(['REJECTED', undefined])
  const open: Json[] = (await ravi.get('/approvals')).json.data
  expect(open.map((row) => row.approvalId)).not.toContain(approvalId)
  expect(await fund(asha, partner, '5000.00', reference)).toMatchObject({
    status: 200,
    json: { isRepeat: true, balance: '5000.00' },
  })
  expect((await fund(asha, partner, '5000.01', reference)).error).toBe('funding_reference_used')
  expect((await fund(asha, partner, '10.00')).json).toMatchObject({ isRepeat: false, balance: '5010.00' })
})

test('a credit in suspense above the limit is assigned when a second person approves', async () => {
  const merchant = await service.newMerchant()
  const notice = creditOf('NOSUCHCODE', { utr: newUtr(), amount: 2_500 })
  const { paymentId } = payloadOf(await notifyCredit(service.client, notice))
  const body = { merchantId: merchant.merchantId, reason: 'by phone' }
  const waiting = await asha.post(`/payments/${paymentId}/assign`, body)
  expect(waiting).toMatchObject({ status: 202, json: { kind: 'suspense_assigned', tenantId: 'house' } })
  const { data } = payloadOf(await (await service.as(merchant)).get('/api/v0/payments'))
  expect(data).toEqual([])
  expect((await approve(ravi, waiting.json.approvalId)).json.status).toBe('POSTED')
  expect(payloadOf(await (await service.as(merchant)).get('/api/v0/payments')).data).toMatchObject([
    { status: 'ACCEPTED', amount: 2_500 },
  ])
})

test('the same holds on the command line: a funding waits, its operator cannot approve it, a second one can; a repeat does not wait', async () => {
  const partner = await newEmptyPartner()
  const env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    APPROVAL_ABOVE_RUPEES: '1000',
  }
  const reference = newReference()
  const svc = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere([...args, '--json'], env)
    return { code, out: stdout === '' ? undefined : (JSON.parse(stdout) as Json), stderr }
  }
  const pay = ['--amount', '4000', '--reference', reference, '--reason', 'April float']
  const waiting = await svc('admin', 'card-account', 'fund', partner.cardAccountId, ...pay)
  expect(waiting).toMatchObject({ code: 0, out: { status: 'PENDING', kind: 'card_funding' } })
  expect(waiting.stderr).toContain(`svc admin approval approve ${waiting.out.approvalId}`)
  expect((await svc('admin', 'approval', 'list')).out).toContainEqual(
    expect.objectContaining({ approvalId: waiting.out.approvalId }),
  )
  expect((await svc('admin', 'approval', 'approve', waiting.out.approvalId)).stderr).toContain(
    'cannot approve it',
  )
  expect((await approve(ravi, waiting.out.approvalId)).json.status).toBe('POSTED')
  const repeated = await svc('admin', 'card-account', 'fund', partner.cardAccountId, ...pay)
  expect(repeated.out).toMatchObject({ amount: '4000.00', balance: '4000.00', isRepeat: true })
  const back = ['--amount', '3000', '--reference', newReference(), '--reason', 'contract ended']
  const withdraw = () => svc('admin', 'card-account', 'withdraw', partner.cardAccountId, ...back)
  expect((await approve(ravi, (await withdraw()).out.approvalId)).json.status).toBe('POSTED')
  expect((await withdraw()).out).toMatchObject({ amount: '3000.00', balance: '1000.00' })
  const journalId = await journalOf(partner, reference)
  const shown = await svc('admin', 'journal', 'show', journalId)
  expect(shown.out).toMatchObject({ journalId, kind: 'card_funding', legs: [{ amount: '4000.00' }] })
  const more = ['--amount', '4000', '--reference', newReference(), '--reason', 'May float']
  const second = await svc('admin', 'card-account', 'fund', partner.cardAccountId, ...more)
  expect(second.out).toMatchObject({ status: 'PENDING', kind: 'card_funding' })
  expect((await svc('admin', 'approval', 'reject', second.out.approvalId)).out.status).toBe('REJECTED')
})

test('the database checks against the limit of the settings', async () => {
  expect(await sql('select above_paise from approval_limit')).toEqual([{ above_paise: '100000' }])
})

test('a change of the limit is audited, regardless of who makes it', async () => {
  const last = `select actor, target, content::jsonb -> 'details' as details from audit_log
    where action = 'approval_limit.changed' order by sequence desc limit 1`
  expect(await sql(last)).toMatchObject([{ target: 'postings', details: { above_paise: 100000 } }])
  await sql(`begin; set local role svc_operator; update approval_limit set above_paise = null; commit`)
  const [entry] = await sql<Json>(last)
  expect(entry!.actor).toMatch(/^role /)
  expect(entry!.details).toEqual({})
  await sql('update approval_limit set above_paise = 100000')
})
