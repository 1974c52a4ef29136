import { permits, ROLES } from '@svc/console-api/identity/permissions'
import { secondPersonProblem } from '@svc/core/ledger/second-person'
import { recordAudit } from '@svc/platform/audit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, fund, fundsOf, openApprovers, sqlOn } from '../harness/approvals.ts'
import { Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { newPartner } from '../harness/partner.ts'
import { preparePayoutOf } from '../harness/payouts.ts'
import { shopWith } from '../harness/refunds.ts'
import type { TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let asha: Browser
let ravi: Browser
beforeAll(async () => {
  ;({ service, other, asha, ravi } = await openApprovers({ APPROVER_COOLING_DAYS: '7' }))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const sql = <T>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
const operatorIdOf = async (name: string): Promise<string> =>
  (await sql<{ id: string }>('select operator_id as id from operators where name = $1', [name]))[0]!.id

interface Person {
  readonly name: string
  readonly browser: Browser
}

async function person(role: 'finance' | 'admin' | 'viewer' = 'admin'): Promise<Person> {
  const { name } = await newOperator(service, role)
  const browser = new Browser(service)
  await browser.signIn(name)
  return { name, browser }
}

/** How one operator gets the means to act as another one, or gives that one more rights. */
const ARMING: Readonly<Record<string, (by: Person, whom: Person) => Promise<unknown>>> = {
  promoted: async (by, whom) =>
    by.browser.send('PATCH', `/operators/${await operatorIdOf(whom.name)}`, { role: 'operator' }),
  enabled: async (by, whom) => {
    const path = `/operators/${await operatorIdOf(whom.name)}`
    await by.browser.send('PATCH', path, { disabled: true })
    await by.browser.send('PATCH', path, { disabled: false })
    await whom.browser.signIn(whom.name)
  },
  created: (by, whom) => enter('operator.created', by, whom),
  'gave a new password to': (by, whom) => enter('operator.password_reset', by, whom),
  'took the second factor of': (by, whom) => enter('second_factor.deleted', by, whom),
}

/** As the operations that do it enter it in the audit. */
const enter = async (action: string, by: Person, whom: Person): Promise<void> => {
  const target = await operatorIdOf(whom.name)
  await service.app.services.database.operate(
    async (tx) => recordAudit(tx, [{ action, target }]),
    'read committed',
    { actor: `operator ${by.name}` },
  )
}

const giveBankAccount = (by: Browser, merchantId: string) =>
  by.send('PUT', `/merchants/${merchantId}/bank-account`, {
    holder: 'Corner Shop',
    number: '000012345678',
    ifsc: 'HDFC0000001',
  })

const request = async (by: Person): Promise<string> =>
  (await fund(by.browser, await newPartner(service, { fundsPaise: 0n }), '5000.00')).json.approvalId

test.each(Object.entries(ARMING))(
  'whom the requester %s is no second person, nor is who did that to the requester; a third person is',
  async (_, arm) => {
    const [boss, puppet] = [await person(), await person('finance')]
    await arm(boss, puppet)
    for (const [requester, approver] of [
      [boss, puppet],
      [puppet, boss],
    ] as const) {
      const approvalId = await request(requester)
      const refused = await approve(approver.browser, approvalId)
      expect([refused.status, refused.error]).toEqual([403, 'approval_same_person'])
      expect(refused.text).toContain(`operator ${boss.name} created, invited, promoted or reset`)
      expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
    }
  },
)

test('an operator who accepted an invitation is no second person beside who invited', async () => {
  const boss = await person()
  const invited = await boss.browser.post('/operators/invitations', {
    name: `invited.${Date.now()}`,
    role: 'finance',
  })
  const token = new URL(invited.json.link).hash.slice(1)
  const puppet = new Browser(service)
  const accepted = await puppet.post('/invitation/accept', { token, password: PASSWORD })
  expect(accepted.status, accepted.text).toBe(200)
  expect((await approve(puppet, await request(boss))).error).toBe('approval_same_person')
})

test('a chain of puppets is one person', async () => {
  const [boss, middle, last] = [await person(), await person(), await person('finance')]
  await ARMING['enabled']!(boss, middle)
  await ARMING['promoted']!(middle, last)
  expect((await approve(last.browser, await request(boss))).error).toBe('approval_same_person')
})

test('disabling an operator, and what was long ago, makes no two operators one person', async () => {
  const [boss, colleague] = [await person(), await person('finance')]
  await ARMING['promoted']!(boss, colleague)
  const problem = () =>
    service.app.services.database.operate((tx) =>
      secondPersonProblem(tx, [`operator ${boss.name}`], `operator ${colleague.name}`),
    )
  expect(await problem()).toMatchObject({ isSame: false })
  await sql('update approval_limit set cooling_days = 0')
  expect(await problem()).toBeUndefined()
  await sql('update approval_limit set cooling_days = 7')
})

test('the database refuses such an approver of a posting or a payout, regardless of who writes it', async () => {
  const [boss, puppet] = [await person(), await person('finance')]
  await ARMING['promoted']!(boss, puppet)
  const partner = await newPartner(service, { fundsPaise: 0n })
  const { approvalId } = (await fund(boss.browser, partner, '5000.00')).json
  const forced = (text: string, id: string) =>
    sql(`update ${text.replace('$', `'operator ${puppet.name}'`)} = '${id}'`)
  await expect(
    forced(
      `approvals set outcome = 'APPROVED', decided_at = now(), decided_by = $ where approval_id`,
      approvalId,
    ),
  ).rejects.toMatchObject({ constraint: 'approved_by_a_second_person' })
  expect(await fundsOf(service, partner)).toBe('0')
  const { merchantId } = await shopWith(service, 100)
  await giveBankAccount(asha, merchantId)
  const payoutId = await preparePayoutOf(service, merchantId, `operator ${boss.name}`)
  await expect(
    forced(`payouts set status = 'APPROVED', approved_at = now(), approved_by = $ where payout_id`, payoutId),
  ).rejects.toMatchObject({ constraint: 'approved_by_a_second_person' })
  const refused = await puppet.browser.post(`/payouts/${payoutId}/approve`, {})
  expect([refused.status, refused.error]).toEqual([403, 'payout_same_person'])
  expect((await (await signedIn(service, 'finance')).post(`/payouts/${payoutId}/approve`, {})).status).toBe(
    200,
  )
})

test.each([
  ['was disabled', { disabled: true }],
  ['lost the right', { role: 'viewer' }],
] as const)(
  'what an operator requested who %s meanwhile is not approved, in the database either',
  async (_, change) => {
    const [admin, clerk] = [await person(), await person('finance')]
    const approvalId = await request(clerk)
    const { merchantId } = await shopWith(service, 100)
    await giveBankAccount(asha, merchantId)
    const payoutId = await preparePayoutOf(service, merchantId, `operator ${clerk.name}`)
    await admin.browser.send('PATCH', `/operators/${await operatorIdOf(clerk.name)}`, change)
    const refused = await approve(ravi, approvalId)
    expect([refused.error, refused.text]).toEqual([
      'approval_closed',
      expect.stringContaining(`operator ${clerk.name} may not do this any more`),
    ])
    expect(await ravi.post(`/payouts/${payoutId}/approve`, {})).toMatchObject({
      error: 'payout_same_person',
      text: expect.stringContaining(`operator ${clerk.name} may not do this any more`),
    })
    for (const text of [
      `update approvals set outcome = 'APPROVED', decided_at = now(), decided_by = 'operator x' where approval_id = '${approvalId}'`,
      `update payouts set status = 'APPROVED', approved_at = now(), approved_by = 'operator x' where payout_id = '${payoutId}'`,
    ])
      await expect(sql(text)).rejects.toMatchObject({ constraint: 'approved_by_a_second_person' })
    expect((await ravi.post(`/approvals/${approvalId}/reject`, {})).json.status).toBe('REJECTED')
  },
)

test('the database knows who may approve as the roles of the console say', async () => {
  for (const role of ROLES) {
    const { name } = await newOperator(service, role)
    for (const permission of ['finance', 'operations', 'administer'] as const) {
      const [said] = await sql<{ may: boolean }>(`select may_act('operator ${name}', '${permission}') as may`)
      expect([role, permission, said!.may]).toEqual([role, permission, permits(role, permission)])
    }
  }
})
