import { fail } from '@svc/contract/errors'
import type { ByTenant } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Endpoint, webhookEndpoints } from './endpoint.ts'

/** An endpoint, and the tenant who names it. */
export interface EndpointKey {
  readonly tenantId: string
  readonly endpointId: string
}

const LOCK = webhookEndpoints.lock('for_change')
const updateEndpoints = webhookEndpoints.updates([
  'url',
  'description',
  'types',
  'enabled',
  'disabledReason',
  'headerNames',
  'headersEncrypted',
  'modifiedAt',
])
const DELETE = statement(
  'webhook_endpoint_delete',
  'delete from webhook_endpoints where tenant_id = $1 and endpoint_id = $2',
)

/** Endpoints of a tenant, by id. */
export type Endpoints = Map<string, Endpoint>

export const lockEndpoints = (tx: BatchTx, keys: readonly EndpointKey[]): Promise<ByTenant<Endpoints>> =>
  webhookEndpoints.lockRows(tx, LOCK, keys)

/** Another tenant's endpoint is a missing one (decision A10). */
export const endpointOf = (endpoints: Endpoints, { endpointId }: EndpointKey): Endpoint =>
  endpoints.get(endpointId) ?? fail('webhook_endpoint_not_found')

/** Its instant of change moves on even when the clock does not: processes that deliver compare it. */
export function changedEndpoint(endpoint: Endpoint, changes: Partial<Endpoint>, now: Date): Endpoint {
  const modifiedAt = new Date(Math.max(now.getTime(), endpoint.modifiedAt.getTime() + 1))
  return { ...endpoint, ...changes, modifiedAt }
}

export const saveEndpoint = (tx: Writes, endpoint: Endpoint): void => updateEndpoints(tx, [endpoint])

export const deleteEndpointRow = (tx: Writes, { tenantId, endpointId }: EndpointKey): void =>
  tx.write(DELETE, [tenantId, endpointId])
