import {
  type Credential,
  type IssuedCredential,
  OVERLAP_HOURS,
  OVERLAP_HOURS_MAX,
} from '@svc/core/tenants/credentials'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { closed, instant, maybe, maybeInstant, record, text } from './console-schema.ts'

/** Of the console and of the portal: an API key of a merchant, an OAuth client of a partner. */
export const CredentialRecord = record('Credential', {
  credentialId: text('Of an API key; of an OAuth client its client id'),
  name: text(),
  prefix: maybe('Begin of an API key, to distinguish it from others'),
  createdOn: instant,
  lastUsedOn: Type.Optional(
    Type.String({ description: 'When a request came with it or with its token; at most a minute late' }),
  ),
  expiresOn: Type.Optional(Type.String({ description: 'When it ends, because it was replaced' })),
  revokedOn: maybeInstant,
})
export const CredentialList = closed({ data: Type.Array(CredentialRecord, { description: 'Oldest first' }) })

export const IssuedRecord = record('IssuedCredential', {
  credentialId: text(),
  secret: text('The API key, or the secret of the client; shown here and never again'),
})

export const Hours = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: OVERLAP_HOURS_MAX,
    description: `For how many hours the previous one goes on; default ${OVERLAP_HOURS}`,
  }),
)

export const ROLL_DESCRIPTION =
  'A credential of the same name takes its place; the previous one and its tokens go on for some hours, so that programs can change over.'

export const credentialToWire = (one: Credential, timeZone: string) => {
  const on = (at: Date | null | undefined) => (at ? rfc3339(at, timeZone) : undefined)
  return {
    credentialId: one.credentialId,
    name: one.name,
    prefix: one.prefix,
    createdOn: rfc3339(one.createdAt, timeZone),
    lastUsedOn: on(one.lastUsedAt),
    expiresOn: on(one.expiresAt),
    revokedOn: on(one.revokedAt),
  }
}

export const issuedToWire = ({ credentialId, secret }: IssuedCredential) => ({
  credentialId,
  secret: secret.reveal(),
})
