import { fail } from '@svc/contract/errors'
import {
  EndpointParams,
  EndpointResponse,
  endpointToWire,
  findEndpoint,
  listTenantEndpoints,
} from '@svc/core/webhooks/endpoint'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'

/** All of them: a tenant may have twenty. */
export const listEndpoints = query({
  id: 'listWebhookEndpoints',
  method: 'GET',
  path: '/api/v0/webhook-endpoints',
  tag: 'Webhooks',
  summary: 'List webhook endpoints',
  auth: 'tenant',
  scope: 'webhooks:read',
  envelope: 'response_code',
  result: Type.Object({ recordsCount: Type.Integer(), data: Type.Array(EndpointResponse) }),
  errors: [],
  mount({ database, config }) {
    return async ({ caller: { tenantId } }) => {
      const endpoints = await database.read([tenantId], (tx) => listTenantEndpoints(tx, tenantId))
      const data = endpoints.map((endpoint) => endpointToWire(endpoint, config.BUSINESS_TIME_ZONE))
      return { body: succeed({ recordsCount: data.length, data }) }
    }
  },
})

export const getEndpoint = query({
  id: 'getWebhookEndpoint',
  method: 'GET',
  path: '/api/v0/webhook-endpoints/:endpointId',
  tag: 'Webhooks',
  summary: 'Get a webhook endpoint',
  auth: 'tenant',
  scope: 'webhooks:read',
  envelope: 'response_code',
  params: EndpointParams,
  result: EndpointResponse,
  errors: ['webhook_endpoint_not_found'],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, params: { endpointId } }) => {
      const endpoint = await database.read([tenantId], (tx) => findEndpoint(tx, tenantId, endpointId))
      if (!endpoint) return fail('webhook_endpoint_not_found')
      return { body: succeed(endpointToWire(endpoint, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
