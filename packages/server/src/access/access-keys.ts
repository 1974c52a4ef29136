import { Homes } from '@svc/core/tenants/homes'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { statement } from '@svc/platform/db/statement'
import type { FastifyRequest } from 'fastify'
import type { Caller, Services } from '../http/operation.ts'

interface AccessKeyHolder {
  readonly accessKey: string
  readonly tenantId: string
}

const ACCESS_KEYS = statement<AccessKeyHolder>(
  'directory_access_keys',
  'select access_key as "accessKey", tenant_id as "tenantId" from directory_access_keys($1)',
)

/**
 * The merchant of `merchantAccessKey` where no token is sent, the operation takes the key alone, and the installation
 * accepts that (`ACCESS_KEY_ALONE`, decision A6); else `undefined`, also for an unknown key.
 */
export function accessKeyLookup({
  config,
  database,
}: Services): (request: FastifyRequest) => Promise<Caller | undefined> {
  // Without a tenant: the lookup finds whose the key is.
  const holders = new BatchedLookup<AccessKeyHolder>(
    (keys) => database.directory(ACCESS_KEYS, [keys.map(({ id }) => id)]),
    ({ accessKey }) => ({ tenantId: '', id: accessKey }),
  )
  const homes = new Homes(database)
  return async ({ headers, routeOptions }) => {
    const key = headers['merchantaccesskey']
    const mayServe =
      config.ACCESS_KEY_ALONE === 'accept' && routeOptions.config.acceptsAccessKeyAlone === true
    if (!mayServe || headers.authorization !== undefined || typeof key !== 'string') return undefined
    const holder = await holders.get('', key)
    if (holder) await homes.require(holder.tenantId)
    else await homes.requireNotMoved('access_key', key)
    return holder && { tenantId: holder.tenantId }
  }
}
