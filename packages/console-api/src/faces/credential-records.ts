import { ALL_SCOPES, scopesOf } from '@svc/contract/scopes'
import { ADDRESSES_MAX, readLimits } from '@svc/core/tenants/credential-limits'
import {
  type Credential,
  type IssuedCredential,
  OVERLAP_HOURS,
  OVERLAP_HOURS_MAX,
} from '@svc/core/tenants/credentials'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { closed, instant, maybe, maybeInstant, record, text } from '../console-schema.ts'

const Address = Type.String({ maxLength: 64 })

/** From where a credential may be used, and for what. */
export const LimitFields = {
  addresses: Type.Array(Address, {
    maxItems: ADDRESSES_MAX,
    description: `At most ${ADDRESSES_MAX} IP addresses and networks, such as \`203.0.113.0/24\` or \`2001:db8::/32\`; empty for everywhere`,
  }),
  scopes: Type.Array(Type.Enum(ALL_SCOPES), {
    maxItems: 64,
    description: 'Empty for all. API keys of merchants and OAuth clients of partners have different ones',
  }),
}
/** Of a new credential: what is absent limits nothing. */
export const NewLimits = {
  addresses: Type.Optional(LimitFields.addresses),
  scopes: Type.Optional(LimitFields.scopes),
}

export const LIMITS_DESCRIPTION =
  'Replaces both lists. Within a second they hold in every process, also for tokens that were issued before.'

/** Of the body of a request. Throws `validation_failed`. */
export const limitsOfBody = (tenantId: string, body: Parameters<typeof readLimits>[1]) =>
  readLimits(kindOfTenant(tenantId), body)

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
  ...LimitFields,
  refusedOn: Type.Optional(
    Type.String({
      description:
        'When it was used from an address that it does not allow; not more often than every five minutes',
    }),
  ),
  refusedAddress: maybe('From which it was used then'),
})
export const CredentialList = closed({
  data: Type.Array(CredentialRecord, { description: 'Oldest first' }),
  availableScopes: Type.Array(text(), { description: 'To which credentials of this tenant may be limited' }),
})

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
    addresses: one.limits.addresses,
    scopes: one.limits.scopes,
    refusedOn: on(one.lastRefusal?.refusedAt),
    refusedAddress: one.lastRefusal?.address,
  }
}

export const credentialsToWire = (tenantId: string, all: readonly Credential[], timeZone: string) => ({
  data: all.map((one) => credentialToWire(one, timeZone)),
  availableScopes: scopesOf(kindOfTenant(tenantId)),
})

export const issuedToWire = ({ credentialId, secret }: IssuedCredential) => ({
  credentialId,
  secret: secret.reveal(),
})
