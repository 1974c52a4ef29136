import { fail } from '../errors.ts'
import type { BatchTx } from '../platform/db/batch.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { ENDPOINT_COLUMNS, type Endpoint, type EndpointRow, toEndpoint } from './endpoint.ts'

/** An endpoint, and the tenant who names it. */
export interface EndpointKey {
  readonly tenantId: string
  readonly endpointId: string
}

const LOCK = rowLock<EndpointRow>('webhook_endpoints_for_change', {
  select: ENDPOINT_COLUMNS,
  from: `from webhook_endpoints e
    where (e.tenant_id, e.endpoint_id) in (select * from unnest($1::text[], $2::text[])) order by e.endpoint_id`,
  tenant: 'e.tenant_id',
  id: 'e.endpoint_id',
  of: 'e',
})
const SAVE = statement(
  'webhook_endpoint_save',
  `update webhook_endpoints set url = $3, description = $4, types = $5, enabled = $6, disabled_reason = $7,
     header_names = $8, headers_sealed = $9, modified_at = $10
   where tenant_id = $1 and endpoint_id = $2`,
)
const DELETE = statement(
  'webhook_endpoint_delete',
  'delete from webhook_endpoints where tenant_id = $1 and endpoint_id = $2',
)

/** Endpoints by id. */
export type Endpoints = Map<string, Endpoint>

const keysOf = (keys: readonly EndpointKey[]) =>
  columns(
    keys,
    ({ tenantId }) => tenantId,
    ({ endpointId }) => endpointId,
  )
const byId = (rows: readonly EndpointRow[]): Endpoints =>
  new Map(rows.map((row) => [row.endpoint_id, toEndpoint(row)]))

export async function lockEndpoints(tx: BatchTx, keys: readonly EndpointKey[]): Promise<Endpoints> {
  if (keys.length === 0) return new Map()
  const distinct = new Set(keys.map(({ endpointId }) => endpointId)).size
  return byId(await tx.lock(LOCK, keysOf(keys), distinct))
}

/** For the command line, in a transaction of the operator. */
export async function lockEndpoint(tx: Tx, key: EndpointKey): Promise<Endpoint | undefined> {
  return byId(await tx.query(LOCK.wait, keysOf([key]))).get(key.endpointId)
}

/** Another tenant's endpoint is a missing one (decision A10). */
export function endpointOf(endpoints: Endpoints, { tenantId, endpointId }: EndpointKey): Endpoint {
  const endpoint = endpoints.get(endpointId)
  return endpoint?.tenantId === tenantId ? endpoint : fail('webhook_endpoint_not_found')
}

/** Its instant of change moves on even when the clock does not: processes that deliver compare it. */
export function changedEndpoint(endpoint: Endpoint, changes: Partial<Endpoint>, now: Date): Endpoint {
  const modifiedAt = new Date(Math.max(now.getTime(), endpoint.modifiedAt.getTime() + 1))
  return { ...endpoint, ...changes, modifiedAt }
}

export function saveEndpoint(tx: Writes, endpoint: Endpoint): void {
  tx.write(SAVE, [
    endpoint.tenantId,
    endpoint.endpointId,
    endpoint.url,
    endpoint.description,
    endpoint.types,
    endpoint.enabled,
    endpoint.disabledReason,
    endpoint.headerNames,
    endpoint.headersSealed,
    endpoint.modifiedAt,
  ])
}

export const deleteEndpointRow = (tx: Writes, { tenantId, endpointId }: EndpointKey): void =>
  tx.write(DELETE, [tenantId, endpointId])
