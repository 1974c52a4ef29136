import { fail } from '@svc/contract/errors'
import { issueSharedKey, lastUsesOfJweKeys, listJweKeys, retireJweKey } from '@svc/core/tenants/jwe-keys'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { type Caller, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { keyMakerOf } from '../as-operator.ts'
import { closed, instant, maybeInstant, record, text } from '../console-schema.ts'
import { IssuedKey, JweKeyRecord } from '../faces/partner-operations.ts'
import { keyedQuery } from '../once.ts'
import {
  asMember,
  memberOperation,
  onceAsMember,
  PORTAL_API,
  type PortalServices,
} from './portal-services.ts'

const TAG = 'Encryption keys'
const PATH = `${PORTAL_API}/encryption-keys`

const requirePartner = ({ tenantId }: Caller): string =>
  kindOfTenant(tenantId) === 'partner' ? tenantId : fail('route_not_found')

export const listOwnEncryptionKeys = query({
  ...memberOperation,
  id: 'portal.listEncryptionKeys',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List encryption keys of the partner',
  description: 'Oldest first. Two work beside each other until one is ended.',
  role: 'viewer',
  result: closed({
    data: Type.Array(record('OwnJweKey', { ...JweKeyRecord.properties, lastUsedOn: maybeInstant })),
  }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }: PortalServices) {
    return async ({ caller }) => {
      const partnerId = requirePartner(caller)
      const { keys, uses } = await database.read([partnerId], async (tx) => ({
        keys: await listJweKeys(tx, partnerId),
        uses: await lastUsesOfJweKeys(tx, partnerId),
      }))
      const on = (at: Date | null | undefined) => (at ? rfc3339(at, timeZone) : undefined)
      const data = keys.map(({ createdAt, retiredAt, ...key }) => ({
        ...key,
        createdOn: on(createdAt),
        retiredOn: on(retiredAt),
        lastUsedOn: on(uses.get(key.kid)),
      }))
      return { body: JSON.stringify({ data }) }
    }
  },
})

export const issueOwnEncryptionKey = keyedQuery({
  ...memberOperation,
  id: 'portal.issueEncryptionKey',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create an encryption key that the partner and the service share',
  description:
    'The secret is in this response and never again. Those that exist work on until they are ended.',
  role: 'admin',
  result: IssuedKey,
  errors: [],
  mount(services: PortalServices) {
    return async (input) => {
      const partnerId = requirePartner(input.caller)
      return onceAsMember(services, { method: 'POST', path: PATH }, input, async (tx) => {
        const { k, ...key } = await issueSharedKey(tx, keyMakerOf(services), partnerId)
        return { ...key, k: k.reveal() }
      })
    }
  },
})

export const retireOwnEncryptionKey = query({
  ...memberOperation,
  id: 'portal.retireEncryptionKey',
  stepUp: true,
  method: 'DELETE',
  path: `${PATH}/:kid`,
  tag: TAG,
  summary: 'End an encryption key',
  description: 'For good; within a second nothing encrypted with it is opened any more.',
  role: 'admin',
  params: Type.Object({ kid: Type.String({ maxLength: 256 }) }),
  result: closed({ kid: text(), retiredOn: instant }),
  errors: ['credential_not_found'],
  mount(services: PortalServices) {
    return async (input) => {
      const partnerId = requirePartner(input.caller)
      const { kid } = input.params
      const retired = await asMember(services, input, (tx) => retireJweKey(tx, partnerId, kid))
      const { retiredAt } = retired ?? fail('credential_not_found')
      return {
        body: JSON.stringify({ kid, retiredOn: rfc3339(retiredAt, services.config.BUSINESS_TIME_ZONE) }),
      }
    }
  },
})
