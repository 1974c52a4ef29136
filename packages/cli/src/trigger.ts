import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

/** Fields that replace those of the requests that cause an event. */
export type Overrides = Readonly<Record<string, unknown>>

/** Demo tenants, and what their requests send in place of the usual. */
export type Sandbox = SandboxFile & { readonly override: Override }

/** The request with those of `fields` that the overrides have. Every request that causes an event goes through it. */
export type Override = <T extends object>(fields: readonly string[], request: T) => T

/** Requests of a demo tenant that cause an event. */
export interface Trigger {
  /** The fields that the requests let be replaced: those that cannot keep the event from happening. */
  readonly fields: readonly string[]
  /** Returns what was done, in one line. */
  readonly cause: (sandbox: Sandbox) => Promise<string>
}

/** Of an event that no request of a tenant causes: what does. */
export interface Advice {
  readonly advice: string
}

export const trigger = (fields: readonly string[], cause: Trigger['cause']): Trigger => ({ fields, cause })

export const asPartner = ({ baseUrl, incentivePartner }: SandboxFile) =>
  new TenantSession(baseUrl, incentivePartner)

/** Throws unless the record of a request has a status by which the event happens. */
export function requireStatus(of: string, status: string | undefined, ...expected: readonly string[]): void {
  if (status === undefined || !expected.includes(status))
    throw new UsageError(
      `${of} is ${status ?? 'not known'} instead of ${expected.join(' or ')}: the event does not happen`,
    )
}

const ADVANCE = 'svc sandbox clock advance incentivePartner --by'
/** A test clock goes at most 400 days at a time. */
const YEARS = [`${ADVANCE} 400d`, `${ADVANCE} 400d`, `${ADVANCE} 400d`]

/** Of an event that only time causes, with the default settings: the commands that make it happen. */
export const byTime = (...commands: readonly string[]): Advice => ({
  advice: `Only time causes it. Run:\n${commands.map((command) => `  ${command}`).join('\n')}`,
})

export const AFTER_A_HOLD = byTime('svc trigger card.authorized', `${ADVANCE} 8d`)
/** A card lasts to the end of its 36th month. */
export const AT_THE_END_OF_A_CARD = byTime('svc trigger card.created', ...YEARS)
/** What is left on a blocked card is unclaimed after 1,095 days. */
export const WHEN_UNCLAIMED = byTime(
  'svc trigger card.created',
  'svc admin cards block <svcCardId> --reason lost',
  ...YEARS,
)
export const AFTER_A_RETURN = byTime('svc trigger card.return_waiting', `${ADVANCE} 8d`)
/** Coins expire only where their configuration says so; `coins.expiring` comes 7 days before. */
export const AT_THE_END_OF_COINS = byTime(
  'svc trigger coins.allocated --override coinsExpireAfterDays=30',
  `${ADVANCE} 31d`,
)
