import type { SandboxFile } from '@svc/server/sandbox/demo'
import { TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

/** Fields that replace those of the requests that cause an event. */
export type Overrides = Readonly<Record<string, unknown>>

/** Demo tenants, and what their requests send in place of the usual. */
export type Sandbox = SandboxFile & { readonly override: Override }

/** The fields of a request, those of the overrides that it has replaced; or `extra`, which it accepts too. */
export type Override = <T extends object>(request: T, ...extra: string[]) => T

/** What became of it, in one line. */
export type Trigger = (sandbox: Sandbox) => Promise<string>

export const asPartner = ({ baseUrl, incentivePartner }: SandboxFile) =>
  new TenantSession(baseUrl, incentivePartner)

/** Of an event that only time causes. */
export const byTime: Trigger = async () => {
  throw new UsageError(
    'Time causes it: see docs/guides/test-clocks.md, and svc sandbox clock advance incentivePartner --by 8d',
  )
}
