import { createHash } from 'node:crypto'
import { canonicalJson } from '@svc/kernel/canonical-json'
import type { ResponseKey } from '@svc/platform/db/idempotency-store'

interface Route {
  readonly method: string
  readonly path: string
}

interface Request {
  readonly caller: { readonly tenantId: string }
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly ciphertextHash: Buffer | undefined
}

/** Decision C13: what the caller's Idempotency-Key stands for, and what its request hashes to. */
export function retryKey({ method, path }: Route, input: Request): ResponseKey | undefined {
  const { caller, headers, params, query, body, ciphertextHash } = input
  const given = headers['idempotency-key']
  // A JWE counts once, so it is a key of its own where the caller sends none.
  const key =
    typeof given === 'string' ? given : ciphertextHash && `jwe ${ciphertextHash.toString('base64url')}`
  if (key === undefined) return undefined
  // A precondition is part of the request.
  const hashed = [
    params,
    query,
    Buffer.isBuffer(body) ? digest(body) : body,
    ...(headers['if-match'] === undefined ? [] : [headers['if-match']]),
  ]
  const requestHash = createHash('sha256').update(canonicalJson(hashed)).digest()
  return {
    tenantId: caller.tenantId,
    route: `${method} ${path}`,
    key,
    requestHash,
    ciphertextHash: ciphertextHash ?? null,
  }
}

/** Stands for a body that was not parsed. */
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64')
