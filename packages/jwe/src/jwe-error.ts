/** Why a JWE was not decrypted. Shown to callers in sandbox mode only; live mode has one response for all (decision C5). */
export const JWE_ERROR_REASONS = {
  too_large: 'The JWE is longer than 65,536 characters',
  not_jwe: 'The text is not a JWE in compact serialization: five base64url parts with dots between them',
  not_canonical: 'A part of the JWE is not canonical base64url: no padding, no other alphabet, no stray bits',
  header: 'The protected header of the JWE is not accepted',
  algorithm: 'The alg or enc of the JWE is not the one that its key is for',
  unknown_kid: 'The kid of the JWE names no key that is in use here',
  tag: 'The JWE cannot be decrypted with the key that its kid names: altered on the way, or encrypted to another key',
  not_bound: 'The JWE was created too long ago or in the future, or for another path',
  not_json: 'The JWE was decrypted, but its content is not a JSON object in UTF-8',
} as const

export type JweErrorReason = keyof typeof JWE_ERROR_REASONS

/** What is known of a JWE before anything about it is verified: text of the caller, but of a checked, harmless form. */
export interface JweClaims {
  readonly kid?: string | undefined
  readonly alg?: string | undefined
}

/** A JWE that was not decrypted. The message never repeats any of its content. */
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
