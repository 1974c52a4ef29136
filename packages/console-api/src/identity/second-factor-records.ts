import { rfc3339 } from '@svc/kernel/time'
import { qrPng } from '@svc/upi-qr/qr-image'
import { Type } from 'typebox'
import { closed, maybeInstant, record, text } from '../console-schema.ts'
import { type Enrollment, RECOVERY_CODES, type SecondFactorState } from './second-factor.ts'

/** Of the console and of the portal: an authenticator app. */
export const SecondFactorRecord = record('SecondFactor', {
  isOn: Type.Boolean({ description: 'Whether a code is asked for' }),
  since: maybeInstant,
  recoveryCodesLeft: Type.Integer(),
})
export const SecondFactorStart = record('SecondFactorStart', {
  secret: text('Base32, to be typed where nothing can be scanned'),
  uri: text('`otpauth:` URI'),
  qrCodeBase64: text('The URI as a QR code, PNG in base64'),
})
export const RecoveryCodes = record('RecoveryCodes', {
  recoveryCodes: Type.Array(text(), {
    description: `${RECOVERY_CODES} codes, shown once; each works once, instead of a code of the app`,
  }),
})
export const FirstCode = closed({
  code: Type.String({ pattern: '^[0-9]{6}$', 'x-rule': 'must be six digits' }),
})

export function stateToWire({ confirmedAt, recoveryCodesLeft }: SecondFactorState, timeZone: string): string {
  const since = confirmedAt && rfc3339(confirmedAt, timeZone)
  return JSON.stringify({ isOn: confirmedAt !== undefined, since, recoveryCodesLeft })
}

/** How an app lists it. */
export const labelOf = (publicUrl: string, name: string) => ({
  issuer: `svc ${new URL(publicUrl).host}`,
  name,
})

export const startToWire = (begun: Enrollment): string =>
  JSON.stringify({ ...begun, qrCodeBase64: qrPng(begun.uri).toString('base64') })
