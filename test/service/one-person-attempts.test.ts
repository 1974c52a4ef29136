import { APPROVED_COMMANDS } from '@svc/server/approvals/approved-commands'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApprovers, sqlOn } from '../harness/approvals.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { SUPPLIER } from '../harness/invoices.ts'
import { ATTEMPTS, type Insider, type Step } from '../harness/one-person-attempts.ts'
import { brokenIn } from '../harness/refunds.ts'
import type { TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  ;({ service, other } = await openApprovers(SUPPLIER))
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

async function newInsider(): Promise<Insider> {
  const { name } = await newOperator(service, 'admin')
  const browser = new Browser(service)
  expect((await browser.signIn(name)).status).toBe(200)
  return { browser, actor: `operator ${name}` }
}

/**
 * What one person moves by these steps, in rupees: of each journal without an approval, what it moves, of the tenant of
 * which that is most. Journals between tenants have a side in both.
 */
async function movedBy(steps: readonly Step[], insider: Insider): Promise<number> {
  const known = await sqlOn<{ id: string }>(service, 'select journal_id as id from journals')
  for (const step of steps) await step(insider).catch(() => undefined)
  const [moved] = await sqlOn<{ paise: string | null }>(
    service,
    `select max(of_tenant)::text as paise from (
       select sum(of_journal) as of_tenant from (
         select tenant_id, max(of_kind) as of_journal from (
           select t.tenant_id, t.journal_id, t.kind, sum(t.amount) as of_kind
           from ledger_transfers t
           where t.journal_id <> all ($1) and not exists (
             select from approvals p where p.tenant_id = t.tenant_id and p.journal_id = t.journal_id)
           group by t.tenant_id, t.journal_id, t.kind) k
         group by tenant_id, journal_id) j
       group by tenant_id) t`,
    [known.map(({ id }) => id)],
  )
  return Number(moved?.paise ?? 0) / 100
}

/** What makes possible again what was done: a person alone moves nothing by it. */
const NOTHING_ALONE = ['completeRefund', 'changePayout']

const LIMIT = 1_000

/** What one person enters at once and whole: what it moves is in the books, and its own test says so. */
const ONCE = ['enterYearEnd']

test('every command that moves money has an attempt of one person', () => {
  const names = APPROVED_COMMANDS.map(({ name }) => name)
  expect([...Object.keys(ATTEMPTS), ...ONCE].sort()).toEqual(names.sort())
})

test('with a hundred tenants one person moves at most ten times the limit', async () => {
  const insider = await newInsider()
  const steps: Step[] = []
  for (let tenants = 0; tenants < 12; tenants++)
    steps.push(...(await ATTEMPTS['fundAccount']!(service, [900])))
  await Promise.all(steps.map((step) => step(insider)))
  const [{ paise }] = (await sqlOn<{ paise: string }>(
    service,
    'select sum(amount_paise)::text as paise from one_person_postings where person = $1',
    [insider.actor],
  )) as [{ paise: string }]
  expect(Number(paise) / 100).toBe(11 * 900)
})

test.each(Object.entries(ATTEMPTS))('%s: one person moves at most the limit, at once or in many steps', async (name, attempt) => {
  const insider = await newInsider()
  expect(await movedBy(await attempt(service, [3_000]), insider)).toBe(0)
  const many = await movedBy(await attempt(service, [400, 400, 400, 400]), insider)
  expect(many).toBeLessThanOrEqual(LIMIT)
  if (NOTHING_ALONE.includes(name)) expect(many).toBe(0)
  else expect(many).toBeGreaterThan(LIMIT / 2)
}, 60_000)
