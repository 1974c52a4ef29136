import { continueClosings, type LeftOpen, leftOpen, startClosing } from '@svc/console-api/tenant-closing'
import { Relay } from '@svc/core/webhooks/relay'
import { expect } from 'vitest'
import { sqlOn } from './approvals.ts'
import type { TestService } from './service.ts'

/** Starts to close a tenant as an operator does; the rest follows by `takeClosingSteps`. */
export const startClosingOf = ({ app }: TestService, tenantId: string): Promise<boolean> =>
  app.services.database.operate((tx) => startClosing(tx, tenantId, 'contract ended'), 'read committed', {
    actor: 'operator asha',
  })

/** As if the commands of the last tokens had ended, for which a closing waits. */
export const commandsHaveEnded = (on: TestService): Promise<unknown> =>
  sqlOn(
    on,
    // Time passes here, and nobody changes the tenant: without its triggers, so that the audit names no change.
    `begin; set local session_replication_role = replica;
     update tenants set closing_at = closing_at - interval '1 hour'
     where closing_at > now() - interval '1 hour' and closed_at is null; commit`,
  )

/** Takes the steps of all closings, without the waits between them. */
export async function takeClosingSteps(on: TestService): Promise<void> {
  await commandsHaveEnded(on)
  await continueClosings(on.app.services)
}

export const leftOpenOf = ({ app }: TestService, tenantId: string): Promise<LeftOpen[]> =>
  app.services.database.operate((tx) => leftOpen(tx, tenantId))

export async function closingStateOf(
  on: TestService,
  tenantId: string,
): Promise<'active' | 'disabled' | 'closing' | 'closed'> {
  const text = `select case when closed_at is not null then 'closed' when closing_at is not null then 'closing'
       when disabled_at is not null then 'disabled' else 'active' end as state from tenants where tenant_id = $1`
  return (await sqlOn<{ state: 'active' | 'disabled' | 'closing' | 'closed' }>(on, text, [tenantId]))[0]!
    .state
}

/** Numbers the events that are there: unnumbered ones are open. */
export async function numberEvents(on: TestService): Promise<void> {
  const relay = new Relay(on.app.services, () => undefined)
  relay.loop.start()
  await expect.poll(() => sqlOn(on, 'select from unnumbered_events')).toEqual([])
  await relay.loop.stop()
}
