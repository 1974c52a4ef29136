import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false, env: { GST_STATE: '29' } })
})
afterAll(() => service.close())

test('on the command line a bank account and fees are changed in the name of an operator who moves money', async () => {
  const { merchantId } = await service.newMerchant()
  const account = [
    'account',
    merchantId,
    '--holder',
    'Shop',
    '--number',
    '000012345678',
    '--ifsc',
    'HDFC0000001',
  ]
  const fee = ['fee', merchantId, '--percent', '1.5']
  const as = async (role: 'support' | 'finance', args: string[]) => {
    const { name } = await newOperator(service, role)
    const operator = { SVC_OPERATOR: name, SVC_OPERATOR_PASSWORD: PASSWORD }
    const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, ...operator }
    return { ...(await runHere(['admin', 'payout', ...args], env)), actor: `operator ${name}` }
  }
  for (const [noun, change] of [
    ['payout_details', account],
    ['merchant_fee', fee],
  ] as const) {
    const refused = await as('support', change)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('may not move money')])
    const { actor, code } = await as('finance', change)
    expect(code).toBe(0)
    const entries = await asSuperuser(service.db.database, (db) =>
      db.query(`select actor from audit_log where tenant_id = $1 and action = $2`, [
        merchantId,
        `${noun}.created`,
      ]),
    )
    expect(entries.rows).toEqual([{ actor }])
  }
  const past = await as('finance', [...fee, '--from', '2020-01-01'])
  expect([past.code, past.stderr]).toEqual([
    1,
    expect.stringContaining('--from must be today or a later day'),
  ])
  // Anyone may look.
  expect((await as('support', ['account', merchantId])).code).toBe(0)
})
