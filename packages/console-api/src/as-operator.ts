import type { KeyMaker } from '@svc/core/tenants/api-key'
import type { CommandAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import type { Person } from './identity/audience.ts'

interface OperatorRequest {
  readonly caller: Person
  readonly requestId: string
}

/** Whom the audit names for what an operator does, in the console or by the command line. */
export const actorOf = ({ actor }: Pick<Person, 'actor'>): string =>
  actor!.isAccount ? actor!.name : `operator ${actor!.name}`

/** A transaction of the calling operator: what it changes is audited under that name. */
export const asOperator = <T>(
  { database }: Services,
  { caller, requestId }: OperatorRequest,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => database.operate(work, 'read committed', { actor: actorOf(caller), requestId })

export const keyMakerOf = ({ keyring, random, config }: Services): KeyMaker => ({
  keyring,
  random,
  mode: config.SVC_MODE === 'live' ? 'live' : 'test',
})

/** What the audit says of a command that an operator gives on behalf of a tenant. */
export const auditOf = <D>(
  tenantId: string,
  { caller, requestId }: OperatorRequest,
  entry: Pick<CommandAudit<D>, 'action' | 'target' | 'details'>,
): CommandAudit<D> => ({ ...entry, actor: actorOf(caller), requestId, tenantId })

/** What the envelopes of the API hold. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- each caller knows what its operation returns
export const payloadOf = <T = unknown>(body: unknown): T =>
  (JSON.parse(String(body)) as { payload: T }).payload
