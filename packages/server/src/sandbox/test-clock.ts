import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { endDueCards } from '@svc/core/cards/end/end-card'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { forgetUsers } from '@svc/core/cards/user/forget-users'
import { announceExpiringCoins } from '@svc/core/coins/announce-coins'
import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { expireDisputes } from '@svc/core/payments/disputes/expire-disputes'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { prepareScheduledPayouts } from '@svc/core/payments/payouts/prepare-scheduled-payouts'
import { closeExpiredQrCodes, expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { PLATFORM_TENANT, tenantKind } from '@svc/core/tenants/tenant'
import { advanceClock } from '@svc/core/tenants/test-clock'
import type { TestClocks } from '@svc/core/tenants/test-clocks'
import { numberAll } from '@svc/core/webhooks/relay'
import { required } from '@svc/kernel/invariant'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import type { CoreServices } from '@svc/platform/services'
import { Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'
import { query, type Services, succeed } from '../http/operation.ts'

const DAY_MS = 86_400_000
/** A clock goes day by day, and this many in one request. */
const DAYS_MAX = 400

/** For the operations on test clocks; a live service has none. */
export interface ClockServices extends Services {
  readonly testClocks: TestClocks | undefined
}

const TenantParams = Type.Object(
  {
    tenantId: Type.String({
      description: `A merchant’s or a partner’s id, or \`${PLATFORM_TENANT}\`: the clock of the installation, by which all live that are not ahead of it`,
    }),
  },
  { additionalProperties: false },
)
const TestClock = Type.Object(
  {
    tenantId: Type.String(),
    now: Type.String({ description: 'The time of the tenant' }),
    aheadSeconds: Type.Integer({
      description: 'By how much it is ahead of the service’s; 0 until it is advanced',
    }),
  },
  { additionalProperties: false, title: 'TestClock' },
)

/** What becomes due with time, in the order in which it is done. Each returns 0 once nothing is due. */
const DUE: readonly ((services: CoreServices) => Promise<number>)[] = [
  expireQrCodes,
  closeExpiredQrCodes,
  expireDisputes,
  expireCardHolds,
  announceExpiringCoins,
  expireDueCoins,
  endDueCards,
  accrueDueFees,
  prepareScheduledPayouts,
]

async function doWhatIsDue(services: CoreServices): Promise<void> {
  for (const work of DUE) while ((await work(services)) > 0);
}

const shown = ({ clock, config }: Services, tenantId: string) => {
  const own = clock.of(tenantId)
  return {
    tenantId,
    now: rfc3339(new Date(own.now()), config.BUSINESS_TIME_ZONE),
    aheadSeconds: Math.round((own.offsetMs() - clock.offsetMs()) / 1_000),
  }
}

async function requireClock(database: Database, tenantId: string): Promise<void> {
  if (tenantId !== PLATFORM_TENANT && !(await tenantKind(database, tenantId))) fail('tenant_not_found')
}

interface Way {
  readonly byMs: number
  /** With `to`: how far ahead of the service the tenant is to be. */
  readonly atMostAheadMs?: bigint
}

function wayOf(
  { clock }: Services,
  tenantId: string,
  { bySeconds, to }: { readonly bySeconds?: number; readonly to?: string },
): Way {
  if ((bySeconds === undefined) === (to === undefined))
    failField('bySeconds', 'exactly_one', 'or to is required, not both')
  const until = readInstant('to', to)
  if (!until) return { byMs: bySeconds! * 1_000 }
  const byMs = until.getTime() - clock.of(tenantId).now()
  if (byMs > DAYS_MAX * DAY_MS)
    failField('to', 'maximum', `must be at most ${DAYS_MAX} days after the time of the tenant`)
  return { byMs, atMostAheadMs: BigInt(until.getTime() - clock.now()) }
}

export const getTestClock = query({
  id: 'sandboxGetClock',
  method: 'GET',
  path: '/sandbox/tenants/:tenantId/clock',
  tag: 'Sandbox',
  summary: 'Get the test clock of a tenant',
  auth: 'none',
  envelope: 'response_code',
  sandboxOnly: true,
  params: TenantParams,
  result: TestClock,
  errors: ['tenant_not_found'],
  mount(services: ClockServices) {
    const { database } = services
    return async ({ params: { tenantId } }) => {
      await requireClock(database, tenantId)
      return { body: succeed(shown(services, tenantId)) }
    }
  },
})

export const advanceTestClock = query({
  id: 'sandboxAdvanceClock',
  method: 'POST',
  path: '/sandbox/tenants/:tenantId/clock/advance',
  tag: 'Sandbox',
  summary: 'Advance the test clock of a tenant',
  description: `Moves the tenant’s time forward, day by day; at most ${DAYS_MAX} days in one request: by a time, or to an instant. With \`to\` a repeat goes no further, so send it again after a lost response; a clock that is there already stays. The request takes as long as what becomes due: \`COMMAND_TIMEOUT_MS\` does not end it. Returns once everything that time does has happened: codes, tokens, card holds and coins have expired, with their events, users are erased after \`USER_RETENTION_DAYS\`, and retries of webhooks are due. The time of other tenants, ids and the audit stay as they are; with \`house\` all tenants go along, and a month can be closed. A clock never goes back; \`svc sandbox reset\` starts afresh.`,
  auth: 'none',
  envelope: 'response_code',
  sandboxOnly: true,
  params: TenantParams,
  takesLong: true,
  body: Type.Object(
    {
      bySeconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: DAYS_MAX * 86_400, description: 'How far it goes, or `to`' }),
      ),
      to: Type.Optional(Instant('Where it goes, or `bySeconds`: an instant of RFC 3339')),
    },
    { additionalProperties: false },
  ),
  result: TestClock,
  errors: ['tenant_not_found'],
  mount(services: ClockServices) {
    const { commands, database } = services
    const testClocks = required(services.testClocks, 'a sandbox has test clocks')
    const advance = commands.open(advanceClock)
    return async ({ params: { tenantId }, body }) => {
      await requireClock(database, tenantId)
      const { byMs, atMostAheadMs } = wayOf(services, tenantId, body)
      for (let leftMs = byMs; leftMs > 0; leftMs -= DAY_MS) {
        const target = atMostAheadMs === undefined ? {} : { atMostAheadMs }
        await advance.run({ tenantId, byMs: BigInt(Math.min(leftMs, DAY_MS)), ...target })
        await testClocks.load(database)
        await doWhatIsDue(services)
      }
      // Counted from what the days before have ended.
      await forgetUsers(services)
      await numberAll(services)
      return { body: succeed(shown(services, tenantId)) }
    }
  },
})
