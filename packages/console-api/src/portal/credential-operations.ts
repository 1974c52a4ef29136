import {
  issueCredential,
  limitCredential,
  listCredentials,
  OVERLAP_HOURS,
  revokeCredential,
  rollCredential,
} from '@svc/core/tenants/credentials'
import { query } from '@svc/server/http/operation'
import { keyMakerOf } from '../as-operator.ts'
import { closed, idParam, Name } from '../console-schema.ts'
import {
  CredentialList,
  CredentialRecord,
  credentialsToWire,
  credentialToWire,
  Hours,
  IssuedRecord,
  issuedToWire,
  LIMITS_DESCRIPTION,
  LimitFields,
  limitsOfBody,
  NewLimits,
  ROLL_DESCRIPTION,
} from '../faces/credential-records.ts'
import { keyedQuery } from '../once.ts'
import {
  asMember,
  memberOperation,
  onceAsMember,
  PORTAL_API,
  type PortalServices,
} from './portal-services.ts'

const TAG = 'Credentials'
const PATH = `${PORTAL_API}/credentials`
export const listOwnCredentials = query({
  ...memberOperation,
  id: 'portal.listCredentials',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List API keys or OAuth clients',
  role: 'viewer',
  result: CredentialList,
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }: PortalServices) {
    return async ({ caller: { tenantId } }) => {
      const found = await database.read([tenantId], (tx) => listCredentials(tx, tenantId))
      return { body: JSON.stringify(credentialsToWire(tenantId, found, timeZone)) }
    }
  },
})

export const issueOwnCredential = keyedQuery({
  ...memberOperation,
  id: 'portal.issueCredential',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Issue an API key or OAuth client',
  description: 'The secret is in this response and never again.',
  role: 'admin',
  body: closed({ name: Name, ...NewLimits }),
  result: IssuedRecord,
  errors: ['tenant_closing', 'too_many_credentials'],
  mount(services: PortalServices) {
    return async (input) => {
      const { name, ...body } = input.body
      const { tenantId } = input.caller
      const limits = limitsOfBody(tenantId, body)
      return onceAsMember(services, { method: 'POST', path: PATH }, input, async (tx) =>
        issuedToWire(await issueCredential(tx, keyMakerOf(services), { tenantId, name, limits })),
      )
    }
  },
})

export const limitOwnCredential = query({
  ...memberOperation,
  id: 'portal.limitCredential',
  stepUp: true,
  method: 'PUT',
  path: `${PATH}/:credentialId/limits`,
  tag: TAG,
  summary: 'Limit an API key or OAuth client to addresses and scopes',
  description: LIMITS_DESCRIPTION,
  role: 'admin',
  params: idParam('credentialId'),
  body: closed(LimitFields),
  result: CredentialRecord,
  errors: ['credential_not_found', 'credential_ended'],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId } = input.caller
      const limits = limitsOfBody(tenantId, input.body)
      const wanted = { tenantId, credentialId: input.params.credentialId }
      const limited = await asMember(services, input, (tx) => limitCredential(tx, wanted, limits))
      return { body: JSON.stringify(credentialToWire(limited, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

const ROLL = `${PATH}/:credentialId/roll`

export const rollOwnCredential = keyedQuery({
  ...memberOperation,
  id: 'portal.rollCredential',
  stepUp: true,
  method: 'POST',
  path: ROLL,
  tag: TAG,
  summary: 'Replace an API key or OAuth client',
  description: ROLL_DESCRIPTION,
  role: 'admin',
  params: idParam('credentialId'),
  body: closed({ hours: Hours }),
  result: IssuedRecord,
  errors: ['credential_not_found', 'credential_ended', 'tenant_closing', 'too_many_credentials'],
  mount(services: PortalServices) {
    return async (input) => {
      const { hours = OVERLAP_HOURS } = input.body
      const wanted = { tenantId: input.caller.tenantId, credentialId: input.params.credentialId, hours }
      return onceAsMember(services, { method: 'POST', path: ROLL }, input, async (tx) => {
        const { issued } = await rollCredential(tx, keyMakerOf(services), wanted)
        return issuedToWire(issued)
      })
    }
  },
})

export const revokeOwnCredential = query({
  ...memberOperation,
  id: 'portal.revokeCredential',
  stepUp: true,
  method: 'DELETE',
  path: `${PATH}/:credentialId`,
  tag: TAG,
  summary: 'Revoke an API key or OAuth client',
  description: 'For good; its tokens die within a second in every process.',
  role: 'admin',
  params: idParam('credentialId'),
  result: CredentialRecord,
  errors: ['credential_not_found'],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId } = input.caller
      const revoked = await asMember(services, input, (tx) =>
        revokeCredential(tx, tenantId, input.params.credentialId),
      )
      return { body: JSON.stringify(credentialToWire(revoked, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})
