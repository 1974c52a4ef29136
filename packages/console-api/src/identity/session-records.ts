import { Type } from 'typebox'
import { record, text } from '../console-schema.ts'
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from './password.ts'
import { PERMISSIONS, ROLES } from './permissions.ts'

/** What the sessions of both audiences say besides whose they are. */
export const SESSION_FIELDS = {
  expiresOn: text('When it ends at the latest, RFC 3339'),
  idleSeconds: Type.Integer({ description: 'It ends earlier when nothing is asked for so long' }),
  secondFactorNeeded: Type.Boolean({
    description:
      'Whether nothing but the own account works before a second factor is set up, or used where there is one',
  }),
}

/** Of an operator. */
export const SessionRecord = record('Session', {
  operator: record('SessionOperator', {
    operatorId: text(),
    name: text(),
    role: Type.Enum([...ROLES]),
    permissions: Type.Array(Type.Enum(Object.keys(PERMISSIONS))),
  }),
  ...SESSION_FIELDS,
})

export const NewPassword = Type.String({
  minLength: PASSWORD_CHARS_MIN,
  maxLength: PASSWORD_CHARS_MAX,
  'x-rule': `must have ${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters`,
})
