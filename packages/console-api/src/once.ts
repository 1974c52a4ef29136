import type { CommandAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { type HttpResponse, IdempotencyStore, type ResponseKey } from '@svc/platform/db/idempotency-store'
import { statement } from '@svc/platform/db/statement'
import { type Input, query, type Services } from '@svc/server/http/operation'
import { retryKey } from '@svc/server/http/retry-key'
import { asOperator, auditOf } from './as-operator.ts'

interface Route {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
}

type QueryInput = Input<unknown, unknown, unknown>

/** A query that stores its response under the `Idempotency-Key` of its form: a repeat does nothing twice (decision C13). */
export const keyedQuery: typeof query = (contract) => ({
  ...query(contract),
  acceptsIdempotencyKey: true,
  isKeyedQuery: true,
})

// Two requests with one key at the same time: the second waits, and then finds the response of the first.
const LOCK = statement(
  'console_once_lock',
  `select pg_advisory_xact_lock(hashtextextended('svc once ' || $1 || ' ' || $2 || ' ' || $3, 0))`,
)

/** Does the work and stores its response in the same transaction; where the key has one already, returns that. */
export async function once(
  { clock, keyring }: Services,
  tx: Tx,
  key: ResponseKey | undefined,
  work: () => Promise<object>,
): Promise<HttpResponse> {
  if (!key) return { status: 200, body: JSON.stringify(await work()) }
  await tx.query(LOCK, [key.tenantId, key.route, key.key])
  const store = new IdempotencyStore(keyring)
  const first = (await store.find(tx, [key])).repeat(key)?.response
  if (first) return first
  const response = { status: 200, body: JSON.stringify(await work()) }
  store.save(tx, [{ key, response }], new Date(clock.now()))
  return response
}

/** As `asOperator`, for what creates something: a form that is sent again with the same key creates nothing twice. */
export const onceAsOperator = (
  services: Services,
  route: Route,
  input: QueryInput,
  work: (tx: Tx) => Promise<object>,
): Promise<HttpResponse> =>
  asOperator(services, input, (tx) => once(services, tx, retryKey(route, input), () => work(tx)))

/** How a command runs on behalf of a tenant, once for each key of a form. */
export const onceOnBehalf = <D>(
  tenantId: string,
  route: Route,
  input: QueryInput,
  entry: Pick<CommandAudit<D>, 'action' | 'target' | 'details'>,
) => ({
  retry: retryKey(route, { ...input, caller: { tenantId } }),
  audit: () => auditOf(tenantId, input, entry),
  deadlineMs: input.deadlineMs,
})
