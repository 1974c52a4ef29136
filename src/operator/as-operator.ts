import type { KeyMaker } from '../access/api-key.ts'
import type { CommandAudit } from '../platform/audit.ts'
import type { Tx } from '../platform/db/database.ts'
import type { Caller, Services } from '../platform/http/operation.ts'

interface Asked {
  readonly caller: Caller
  readonly requestId: string
}

/** Whom the audit names for what an operator does in the console. */
export const actorOf = ({ actor }: Caller): string => `operator ${actor!.name}`

/** A transaction of the operator who asks: what it changes is audited under that name. */
export const asOperator = <T>(
  { database }: Services,
  { caller, requestId }: Asked,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => database.operate(work, 'read committed', { actor: actorOf(caller), requestId })

export const keyMakerOf = ({ keyring, random, config }: Services): KeyMaker => ({
  keyring,
  random,
  mode: config.SVC_MODE === 'live' ? 'live' : 'test',
})

/** Given in the name of a tenant, by the operator who asks: what a command of the tenant's own is called with. */
export const onBehalfOf = (
  tenantId: string,
  { caller, requestId }: Asked,
  audit: Pick<CommandAudit, 'action' | 'target' | 'details'>,
): Caller => ({ tenantId, audit: { ...audit, actor: actorOf(caller), requestId, tenantId } })

/** What the envelopes of the API hold. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each caller knows what its operation answers
export const payloadOf = <T = unknown>(body: unknown): T =>
  (JSON.parse(String(body)) as { payload: T }).payload
