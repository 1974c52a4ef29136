import { LRUCache } from 'lru-cache'

const SESSIONS_KNOWN = 10_000

interface Known {
  readonly tenantId: string
  readonly expiresAtMs: number
}

/**
 * Sessions that this process has begun or found in the database: their requests are not refused for those of others at
 * the same address (decision A11). Whether a session still lives is read from the database with every request; one that
 * does not is forgotten.
 */
export class KnownSessions {
  readonly #byDigest = new LRUCache<string, Known>({ max: SESSIONS_KNOWN })

  add(digest: Buffer, tenantId: string, expiresAt: Date): void {
    this.#byDigest.set(digest.toString('base64'), { tenantId, expiresAtMs: expiresAt.getTime() })
  }

  forget(digest: Buffer): void {
    this.#byDigest.delete(digest.toString('base64'))
  }

  tenantOf(digest: Buffer, nowMs: number): string | undefined {
    const known = this.#byDigest.get(digest.toString('base64'))
    return known && nowMs < known.expiresAtMs ? known.tenantId : undefined
  }
}
