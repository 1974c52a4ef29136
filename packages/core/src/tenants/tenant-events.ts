import { randomBytes } from 'node:crypto'
import { newId } from '@svc/contract/id-kinds'
import type { Tx } from '@svc/platform/db/database'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'

/** Events by which a tenant learns what others change of its money and its access (decision O8). */
type TenantEventType =
  | 'merchant.updated'
  | 'credential.issued'
  | 'credential.revoked'
  | 'member.invited'
  | 'member.factor_reset'

const instant = Type.String({ description: 'RFC 3339' })

/** What a merchant’s members ask for, and an operator approves. */
export const CHANGE_KINDS = ['bank_account', 'payment_address', 'fee'] as const

export const MerchantChange = Type.Object(
  {
    merchantId: Type.String(),
    changed: Type.Array(
      Type.Enum([
        'details',
        'paymentAddressRequested',
        'paymentAddressWithdrawn',
        'paymentAddress',
        'bankAccount',
        'fee',
        'changeRequested',
        'changeRejected',
        'changeWithdrawn',
      ]),
      { description: 'What changed' },
    ),
    name: Type.Optional(Type.String({ 'x-personal': 'text' })),
    vpa: Type.Optional(Type.String({ description: 'UPI address of its QR codes' })),
    mcc: Type.Optional(Type.String()),
    nextVpa: Type.Optional(Type.String({ description: 'UPI address that takes its place' })),
    nextVpaOn: Type.Optional(Type.String({ description: 'When it does, unless it is taken back; RFC 3339' })),
    bankAccountEnds: Type.Optional(
      Type.String({ description: 'The last four digits of the account that it is paid to' }),
    ),
    fee: Type.Optional(
      Type.Object(
        {
          validFrom: Type.String({ description: 'Business day from which it is charged' }),
          percent: Type.String({ description: 'Of the amount of each payment' }),
          fixed: Type.String({ description: 'Rupees in addition' }),
        },
        { additionalProperties: false },
      ),
    ),
    request: Type.Optional(
      Type.Object(
        {
          approvalId: Type.String(),
          kind: Type.Enum(CHANGE_KINDS),
          bankAccountEnds: Type.Optional(Type.String({ description: 'The last four digits' })),
          vpa: Type.Optional(Type.String({ description: 'UPI address' })),
          percent: Type.Optional(Type.String({ description: 'Of the amount of each payment' })),
          fixed: Type.Optional(Type.String({ description: 'Rupees in addition' })),
          reason: Type.Optional(Type.String({ description: 'Why it was rejected' })),
        },
        {
          additionalProperties: false,
          description: 'What a member of the merchant asked for; it holds once an operator has approved it',
        },
      ),
    ),
    createdOn: instant,
  },
  { title: 'MerchantChange', additionalProperties: false },
)

export const CredentialChange = Type.Object(
  {
    credentialId: Type.String({ description: 'Of an API key; of an OAuth client its client id' }),
    name: Type.Optional(Type.String()),
    createdOn: instant,
  },
  { title: 'CredentialChange', additionalProperties: false },
)

export const MemberChange = Type.Object(
  {
    memberId: Type.String(),
    name: Type.String({ description: 'Under which the person signs in', 'x-personal': 'text' }),
    role: Type.String(),
    createdOn: instant,
  },
  { title: 'MemberChange', additionalProperties: false },
)

/** Notifies a tenant in the transaction of the change. */
export function announce(
  tx: Tx,
  tenantId: string,
  type: TenantEventType,
  objectId: string,
  record: Readonly<Record<string, unknown>>,
): void {
  const createdAt = new Date()
  const event: OutboxEvent = {
    eventId: newId('evt', createdAt.getTime(), randomBytes),
    tenantId,
    type,
    objectId,
    payload: { ...record, createdOn: createdAt.toISOString() },
    createdAt,
  }
  saveEvents(tx, [event])
}
