import { encryptedColumn } from '@svc/platform/crypto/encrypted-column'
import { type Audience, MEMBERS, OPERATORS } from './audience.ts'
import { nameOf } from './second-factor.ts'

const secretsOf = ({ who, keys }: Audience) =>
  encryptedColumn({
    purpose: 'operator_totp',
    table: `${who}_totp`,
    key: keys,
    column: 'secret_encrypted',
    encryptedFor: (...owner: readonly string[]) => nameOf(owner),
  })

/** Secrets of authenticator apps, for the rotation of the key that encrypts them. */
export const SECOND_FACTORS = [secretsOf(OPERATORS), secretsOf(MEMBERS)] as const
