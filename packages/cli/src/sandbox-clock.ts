import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { parseRfc3339 } from '@svc/kernel/time'
import type { Command } from 'commander'
import { printRecord } from './print.ts'
import { DEMO_TENANTS, type DemoTenant, readSandbox, TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

interface Advance extends Json {
  readonly by?: string
  readonly to?: string
}

interface TestClock {
  readonly tenantId: string
  readonly now: string
  readonly aheadSeconds: number
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const TENANT = 'a tenant of sandbox.json, such as merchant or incentivePartner, an id, or all'

export function addSandboxClockCommands(sandbox: Command): void {
  const clock = sandbox
    .command('clock')
    .description('the test clocks of tenants: time that passes in a moment')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox clock show merchant\n  svc sandbox clock advance incentivePartner --by 365d\n  svc sandbox clock advance all --by 31d\n  svc sandbox clock advance mer_… --to 2027-04-01T00:00:00+05:30',
    )
  clock
    .command('show')
    .argument('[tenant]', TENANT, 'merchant')
    .description('show the time of a tenant')
    .option('--json', 'print JSON')
    .action(show)
  clock
    .command('advance')
    .argument('[tenant]', TENANT, 'merchant')
    .description('move the time of a tenant forward; what time does to it happens before this returns')
    .option('--by <duration>', 'seconds, minutes, hours or days: 90s, 30m, 12h, 365d')
    .option('--to <instant>', 'or an instant: 2027-04-01T00:00:00+05:30')
    .option('--json', 'print JSON')
    .action(advance)
}

async function show(tenant: string, { json = false }: Json): Promise<void> {
  printRecord({ ...(await call(tenant, 'GET', '')) }, json)
}

async function advance(tenant: string, { by, to, json = false }: Advance): Promise<void> {
  if ((by === undefined) === (to === undefined))
    throw new UsageError('Give either --by, such as --by 365d, or --to with an instant.')
  const way = by === undefined ? { to: instantOf(to ?? '') } : { bySeconds: secondsOf(by) }
  printRecord({ ...(await call(tenant, 'POST', '/advance', way)) }, json)
}

function instantOf(to: string): string {
  if (!parseRfc3339(to))
    throw new UsageError('--to is an instant with a zone, such as 2027-04-01T00:00:00+05:30')
  return to
}

function secondsOf(duration: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(duration) ?? []
  if (count === undefined || unit === undefined)
    throw new UsageError('--by is a number with s, m, h or d: 90s, 30m, 12h, 365d')
  return Number(count) * SECONDS[unit]!
}

async function call(tenant: string, method: string, rest: string, body?: object): Promise<TestClock> {
  const demo = await readSandbox()
  const tenantId = tenant === 'all' ? PLATFORM_TENANT : isDemoTenant(tenant) ? idOf(demo[tenant]) : tenant
  const session = new TenantSession(demo.baseUrl, demo.merchant)
  return session.call(method, `/sandbox/tenants/${encodeURIComponent(tenantId)}/clock${rest}`, body)
}

const isDemoTenant = (name: string): name is DemoTenant => DEMO_TENANTS.some((known) => known === name)
const idOf = (tenant: { merchantId: string } | { partnerId: string }): string =>
  'merchantId' in tenant ? tenant.merchantId : tenant.partnerId
