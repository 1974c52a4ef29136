import { channel } from 'node:diagnostics_channel'
import { fail } from '@svc/contract/errors'
import { payloadStringOf } from '@svc/contract/payload-string'
import type { BoundTo } from '@svc/jwe/compact'
import { decryptJwe, encrypt } from '@svc/jwe/jwe'
import { DecryptionFailed } from '@svc/jwe/jwe-error'
import { JsonRejected, parseStrictJson, withoutByteOrderMark } from '@svc/kernel/strict-json'
import type { FastifyRequest } from 'fastify'
import { preferredType } from './accept.ts'
import type { Caller, Reply, Services } from './operation.ts'

const JOSE = 'application/jose'

/** Publishes what encrypted responses were made of: no two encryptions are the same. */
export const encryptedResponses = channel('svc.encrypted_response')

const NOT_ENCRYPTED =
  'The request must be encrypted: send a compact JWE (RFC 7516) of the JSON object, to a key of /.well-known/jwks.json or with your shared key; /docs/guides/encrypt-a-request shows how'

interface OpenedBody {
  readonly body: unknown
  readonly ciphertextHash: Buffer | undefined
  /** The key that the request was encrypted with. */
  readonly jweKid: string | undefined
}

/** Where an encrypted request was sent. */
export interface SentTo {
  readonly path: string
  /** Whether it may be older than JWE_MAX_AGE_SECONDS: it waited in an upload. */
  readonly mayBeOld?: true
}

const CLOCKS_APART_S = 60

/** Decision R7: what a JWE says of its time and its path must be so; what it leaves out is not checked. */
function isBoundTo(
  { iat, url }: BoundTo,
  { path, mayBeOld }: SentTo,
  maxAgeS: number,
  nowMs: number,
): boolean {
  if (url !== undefined && url !== path) return false
  if (iat === undefined) return true
  const ageS = nowMs / 1_000 - iat
  return ageS >= -CLOCKS_APART_S && (mayBeOld || ageS <= maxAgeS)
}

/**
 * Decrypts the body of a request (decisions C1 to C5). In live mode there is one response for all that is wrong with
 * an encrypted request; the sandbox says which check failed.
 */
export async function decryptBody(
  { clock, config, jwes, log }: Services,
  { tenantId }: Caller,
  request: Pick<FastifyRequest, 'id' | 'body'>,
  sent: SentTo,
): Promise<OpenedBody> {
  const { body } = request
  const jwe = payloadStringOf(body)
  if (jwe === undefined) {
    const isObject = body !== null && typeof body === 'object'
    if (isObject && config.SVC_MODE === 'sandbox' && (await jwes.acceptsPlain(tenantId)))
      return { body, ciphertextHash: undefined, jweKid: undefined }
    return fail('request_not_encrypted', { description: NOT_ENCRYPTED })
  }
  try {
    const opened = await decryptJwe(jwe, (kid) => jwes.openingKey(tenantId, kid))
    const { plaintext, ciphertextHash, claims, kid } = opened
    if (!isBoundTo(claims, sent, config.JWE_MAX_AGE_SECONDS, clock.now()))
      throw new DecryptionFailed('not_bound', undefined, opened)
    return { body: parseEncrypted(plaintext), ciphertextHash, jweKid: kid }
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    log.info(
      { requestId: request.id, reason: error.reason, alg: error.alg },
      'an encrypted request was not decrypted',
    )
    // The cause is for the operators, also in live mode (decision O4).
    return fail('decryption_failed', {
      cause: error,
      ...(config.SVC_MODE === 'sandbox' && { description: error.message }),
    })
  }
}

/** As a plain body is read. What is wrong names a position and no content: that is not for the open part of a response. */
function parseEncrypted(plaintext: Buffer): unknown {
  let because: string | undefined
  try {
    const value = parseStrictJson(withoutByteOrderMark(plaintext))
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  } catch (error) {
    if (!(error instanceof JsonRejected)) throw error
    because = error.message
  }
  throw new DecryptionFailed('not_json', because)
}

/** Whether the caller prefers an encrypted response. */
export const wantsEncrypted = ({ headers }: FastifyRequest): boolean =>
  preferredType(headers, ['application/json', JOSE]) === JOSE

/**
 * Decision C3: encrypts whole responses to the partner's registered key or its shared key. Found before the operation is
 * carried out: a partner without a key must not learn so after money has moved.
 */
export async function responseEncrypter(
  { jwes }: Services,
  { tenantId }: Caller,
  requestKid: string | undefined,
): Promise<(reply: Reply) => Promise<Reply>> {
  const key =
    (await jwes.encryptionKey(tenantId, requestKid)) ??
    fail('not_acceptable', { description: 'This partner has no key for encrypted responses' })
  return async (reply) => {
    if (typeof reply.body !== 'string') {
      reply.body.destroy()
      return fail('not_acceptable')
    }
    const headers = { ...reply.headers, 'content-type': JOSE }
    const plaintext = Buffer.from(reply.body)
    if (encryptedResponses.hasSubscribers) encryptedResponses.publish(plaintext)
    return { ...reply, headers, body: await encrypt(plaintext, key) }
  }
}
