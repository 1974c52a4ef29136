import { encryptedColumn } from '@svc/platform/crypto/encrypted-column'
import { MEMBER_FACTORS, OPERATOR_FACTORS } from './second-factor-store.ts'

/** Secrets of authenticator apps, for the rotation of the key that encrypts them. */
export const SECOND_FACTORS = [
  encryptedColumn({
    purpose: 'operator_totp',
    table: 'operator_totp',
    key: ['operator_id'],
    column: 'secret_encrypted',
    encryptedFor: (operatorId) => OPERATOR_FACTORS.nameOf(operatorId),
  }),
  encryptedColumn({
    purpose: 'operator_totp',
    table: 'member_totp',
    key: ['tenant_id', 'member_id'],
    column: 'secret_encrypted',
    encryptedFor: (tenantId, memberId) => MEMBER_FACTORS.nameOf({ tenantId, memberId }),
  }),
] as const
