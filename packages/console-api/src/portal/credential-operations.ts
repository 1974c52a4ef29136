import { fail } from '@svc/contract/errors'
import { issueApiKey, listApiKeys, revokeApiKey } from '@svc/core/tenants/api-key'
import { listOAuthClients } from '@svc/core/tenants/list-credentials'
import { issueOAuthClient, revokeOAuthClient } from '@svc/core/tenants/partner'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { keyMakerOf } from '../as-operator.ts'
import { closed, idParam, instant, maybe, maybeInstant, Name, record, text } from '../console-schema.ts'
import { kindOf } from './member-sessions.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'
import { requirePassword } from './session-operations.ts'

const TAG = 'Credentials'
const PATH = `${PORTAL_API}/credentials`

const CredentialRecord = record('Credential', {
  credentialId: text('Of an API key; of an OAuth client its client id'),
  name: text(),
  prefix: maybe('Begin of an API key, to distinguish it from others'),
  createdOn: instant,
  revokedOn: maybeInstant,
})

interface Credential {
  readonly credentialId: string
  readonly name: string
  readonly prefix?: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

/** API keys of a merchant, OAuth clients of a partner. */
async function credentialsOf(tx: Tx, tenantId: string): Promise<Credential[]> {
  if (kindOf(tenantId) === 'merchant')
    return (await listApiKeys(tx, tenantId)).map((key) => ({ ...key, credentialId: key.apiKeyId }))
  return (await listOAuthClients(tx, tenantId)).map((client) => ({
    ...client,
    credentialId: client.clientId,
  }))
}

const toWire = ({ credentialId, name, prefix, createdAt, revokedAt }: Credential, timeZone: string) => ({
  credentialId,
  name,
  prefix,
  createdOn: rfc3339(createdAt, timeZone),
  revokedOn: revokedAt ? rfc3339(revokedAt, timeZone) : undefined,
})

export const listCredentials = query({
  ...memberOperation,
  id: 'portal.listCredentials',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List API keys or OAuth clients',
  role: 'viewer',
  result: closed({ data: Type.Array(CredentialRecord) }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }: PortalServices) {
    return async ({ caller: { tenantId } }) => {
      const found = await database.read([tenantId], (tx) => credentialsOf(tx, tenantId))
      return { body: JSON.stringify({ data: found.map((one) => toWire(one, timeZone)) }) }
    }
  },
})

export const issueCredential = query({
  ...memberOperation,
  id: 'portal.issueCredential',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Issue an API key or OAuth client',
  description: 'The secret is in this response and never again. Needs your password.',
  role: 'admin',
  body: closed({
    name: Name,
    password: Type.Optional(
      Type.String({ maxLength: 256, description: 'Yours; in the sandbox, who entered by a click has none' }),
    ),
  }),
  result: record('IssuedCredential', {
    credentialId: text(),
    secret: text('The API key, or the secret of the client; only here and only now'),
  }),
  errors: ['wrong_password', 'too_many_failed_attempts', 'overloaded'],
  mount(services: PortalServices) {
    return async (input) => {
      const { name, password } = input.body
      const { tenantId } = input.caller
      await requirePassword(services, input, password)
      const issued = await asMember(services, input, async (tx) => {
        const maker = keyMakerOf(services)
        if (kindOf(tenantId) === 'merchant') {
          const { apiKeyId, secret } = await issueApiKey(tx, maker, tenantId, name)
          return { credentialId: apiKeyId, secret: secret.reveal() }
        }
        const { clientId, clientSecret } = await issueOAuthClient(tx, maker, tenantId, name)
        return { credentialId: clientId, secret: clientSecret.reveal() }
      })
      return { body: JSON.stringify(issued) }
    }
  },
})

export const revokeCredential = query({
  ...memberOperation,
  id: 'portal.revokeCredential',
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
      const { credentialId } = input.params
      const revoked = await asMember(services, input, async (tx) => {
        const found = async () =>
          (await credentialsOf(tx, tenantId)).find((one) => one.credentialId === credentialId) ??
          fail('credential_not_found')
        await found()
        await (kindOf(tenantId) === 'merchant'
          ? revokeApiKey(tx, credentialId)
          : revokeOAuthClient(tx, credentialId))
        return found()
      })
      return { body: JSON.stringify(toWire(revoked, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})
