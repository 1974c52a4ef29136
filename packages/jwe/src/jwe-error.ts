/** Why a seal was not opened. Told to callers in sandbox mode only; live mode has one response for all (decision C5). */
export const JWE_ERROR_REASONS = {
  too_large: 'The seal is longer than 65,536 characters',
  not_jwe: 'The text is not a JWE in compact serialization: five base64url parts with dots between them',
  not_canonical:
    'A part of the seal is not canonical base64url: no padding, no other alphabet, no stray bits',
  header: 'The protected header of the seal is not accepted',
  algorithm: 'The alg or enc of the seal is not the one that its key is for',
  unknown_kid: 'The kid of the seal names no key that is in use here',
  tag: 'The seal does not open with the key that its kid names: altered on the way, or encrypted to another key',
  not_json: 'The seal opens, but what it holds is not a JSON object in UTF-8',
} as const

export type JweErrorReason = keyof typeof JWE_ERROR_REASONS

/** What is known of a seal before anything about it is proved: text of the caller, but of a checked, harmless form. */
export interface JweClaims {
  readonly kid?: string | undefined
  readonly alg?: string | undefined
}

/** A seal of the caller's that is not opened. The message never repeats anything out of the seal. */
export class DecryptionFailed extends Error {
  override name = 'DecryptionFailed'
  readonly reason: JweErrorReason
  readonly kid?: string
  readonly alg?: string

  constructor(reason: JweErrorReason, because?: string, claims: JweClaims = {}) {
    super(because === undefined ? JWE_ERROR_REASONS[reason] : `${JWE_ERROR_REASONS[reason]}: ${because}`)
    this.reason = reason
    if (claims.kid !== undefined) this.kid = claims.kid
    if (claims.alg !== undefined) this.alg = claims.alg
  }
}
