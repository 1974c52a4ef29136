import { fail } from '@svc/contract/errors'
import {
  issueCredential,
  limitCredential,
  listCredentials,
  OVERLAP_HOURS,
  revokeCredential,
  rollCredential,
} from '@svc/core/tenants/credentials'
import { findTenant } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator, keyMakerOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, Name } from '../console-schema.ts'
import { keyedQuery, onceAsOperator } from '../once.ts'
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
} from './credential-records.ts'
import { showingSecret } from './sandbox-secret.ts'

const TAG = 'Credentials'
const PATH = `${CONSOLE_API}/tenants/:tenantId/credentials`
const id = Type.String({ maxLength: 128 })
const params = idParam('tenantId')
const oneOfTenant = Type.Object({ tenantId: id, credentialId: id })

async function requireTenant(tx: Tx, tenantId: string): Promise<void> {
  if (!(await findTenant(tx, tenantId))) fail('tenant_not_found')
}

export const showCredentials = query({
  ...consoleOperation,
  id: 'console.showCredentials',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'Show API keys of a merchant, or OAuth clients of a partner',
  permission: 'view',
  params,
  result: CredentialList,
  errors: ['tenant_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { tenantId } }) => {
      const found = await database.operate(async (tx) => {
        await requireTenant(tx, tenantId)
        return listCredentials(tx, tenantId)
      })
      return { body: JSON.stringify(credentialsToWire(tenantId, found, timeZone)) }
    }
  },
})

export const issueCredentialInConsole = showingSecret(
  keyedQuery({
    ...consoleOperation,
    id: 'console.issueCredential',
    stepUp: true,
    method: 'POST',
    path: PATH,
    tag: TAG,
    summary: 'Issue an API key to a merchant, or an OAuth client to a partner',
    permission: 'operations',
    params,
    body: closed({ name: Name, ...NewLimits }),
    result: IssuedRecord,
    errors: ['tenant_not_found', 'tenant_closing', 'too_many_credentials'],
    mount(services) {
      return async (input) => {
        const { tenantId } = input.params
        const { name, ...body } = input.body
        const wanted = { tenantId, name, limits: limitsOfBody(tenantId, body) }
        return onceAsOperator(services, { method: 'POST', path: PATH }, input, async (tx) => {
          await requireTenant(tx, tenantId)
          return issuedToWire(await issueCredential(tx, keyMakerOf(services), wanted))
        })
      }
    },
  }),
)

export const limitCredentialInConsole = query({
  ...consoleOperation,
  id: 'console.limitCredential',
  stepUp: true,
  method: 'PUT',
  path: `${PATH}/:credentialId/limits`,
  tag: TAG,
  summary: 'Limit an API key or OAuth client to addresses and scopes',
  description: LIMITS_DESCRIPTION,
  permission: 'operations',
  params: oneOfTenant,
  body: closed(LimitFields),
  result: CredentialRecord,
  errors: ['credential_not_found', 'credential_ended'],
  mount(services) {
    return async (input) => {
      const limits = limitsOfBody(input.params.tenantId, input.body)
      const limited = await asOperator(services, input, (tx) => limitCredential(tx, input.params, limits))
      return { body: JSON.stringify(credentialToWire(limited, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

const ROLL = `${PATH}/:credentialId/roll`

export const rollCredentialInConsole = showingSecret(
  keyedQuery({
    ...consoleOperation,
    id: 'console.rollCredential',
    stepUp: true,
    method: 'POST',
    path: ROLL,
    tag: TAG,
    summary: 'Replace an API key or OAuth client',
    description: ROLL_DESCRIPTION,
    permission: 'operations',
    params: oneOfTenant,
    body: closed({ hours: Hours }),
    result: IssuedRecord,
    errors: ['credential_not_found', 'credential_ended', 'tenant_closing', 'too_many_credentials'],
    mount(services) {
      return async (input) => {
        const { hours = OVERLAP_HOURS } = input.body
        const wanted = { ...input.params, hours }
        return onceAsOperator(services, { method: 'POST', path: ROLL }, input, async (tx) => {
          const { issued } = await rollCredential(tx, keyMakerOf(services), wanted)
          return issuedToWire(issued)
        })
      }
    },
  }),
)

export const revokeCredentialInConsole = query({
  ...consoleOperation,
  id: 'console.revokeCredential',
  stepUp: true,
  method: 'DELETE',
  path: `${PATH}/:credentialId`,
  tag: TAG,
  summary: 'Revoke an API key or OAuth client',
  description: 'For good; its tokens die within a second in every process.',
  permission: 'operations',
  params: oneOfTenant,
  result: CredentialRecord,
  errors: ['credential_not_found'],
  mount(services) {
    return async (input) => {
      const { tenantId, credentialId } = input.params
      const revoked = await asOperator(services, input, (tx) => revokeCredential(tx, tenantId, credentialId))
      return { body: JSON.stringify(credentialToWire(revoked, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})
