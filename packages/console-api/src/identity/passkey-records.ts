import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { instant, maybeInstant, record, text } from '../console-schema.ts'
import type { Passkey } from './passkey-store.ts'

export const PasskeyRecord = record('Passkey', {
  passkeyId: text(),
  name: text(),
  createdOn: instant,
  lastUsedOn: maybeInstant,
})

export const passkeyToWire = ({ passkeyId, name, createdAt, lastUsedAt }: Passkey, timeZone: string) => ({
  passkeyId,
  name,
  createdOn: rfc3339(createdAt, timeZone),
  lastUsedOn: lastUsedAt ? rfc3339(lastUsedAt, timeZone) : undefined,
})

const Base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })
const credentialOf = <P extends Record<string, Type.TSchema>>(title: string, response: P) =>
  Type.Object(
    {
      id: Base64url(1_400),
      rawId: Base64url(1_400),
      type: Type.Literal('public-key'),
      response: Type.Object(
        { clientDataJSON: Base64url(8_000), ...response },
        { additionalProperties: true },
      ),
      clientExtensionResults: Type.Object({}, { additionalProperties: true }),
    },
    {
      title,
      additionalProperties: true,
      description: 'What the browser returned, in the JSON of WebAuthn level 3 section 5.1',
    },
  )
export const CreatedCredential = credentialOf('CreatedCredential', {
  attestationObject: Base64url(40_000),
  transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 20 })),
})
export const UsedCredential = credentialOf('UsedCredential', {
  authenticatorData: Base64url(8_000),
  signature: Base64url(8_000),
  userHandle: Type.Optional(Type.String({ maxLength: 200 })),
})
export const PasskeyOptions = record('PasskeyOptions', {
  options: Type.Object(
    { challenge: text('Works once, for ten minutes') },
    {
      additionalProperties: true,
      description: 'For the browser, in the JSON of WebAuthn level 3 section 5.1',
    },
  ),
})
