import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { NestedMap } from '@svc/kernel/nested-map'
import type { Keyring } from '../crypto/keyring.ts'
import type { Tx, Writes } from './database.ts'
import { columns, statement } from './statement.ts'

/** What a caller gets: status, headers of the operation and body, ready to send and to be repeated byte for byte. */
export interface HttpResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** The key of a stored response: the caller's Idempotency-Key, and what its request hashed to. */
export interface ResponseKey {
  readonly tenantId: string
  readonly route: string
  /** The caller's key; for an encrypted request without one, `jwe ` and the hash of its JWE. */
  readonly key: string
  readonly requestHash: Uint8Array
  /** Of an encrypted request: a JWE counts once, whatever key it came with. */
  readonly ciphertextHash: Uint8Array | null
}

export interface FirstResponse {
  readonly key: ResponseKey
  readonly response: HttpResponse
}

/** Additional data of the encryption: a stored response decrypts under its own tenant, route and key only. */
const encryptionContext = ({ tenantId, route, key }: ResponseKey): string => `${tenantId} ${route} ${key}`

const headersContext = (key: ResponseKey): string => `headers ${encryptionContext(key)}`

interface StoredRow {
  tenant_id: string
  route: string
  key: string
  request_hash: Buffer
  ciphertext_hash: Buffer | null
  status: number
  response: Buffer
  response_headers: Buffer | null
}

const FIND = statement<StoredRow>(
  'stored_responses_find',
  `select tenant_id, route, key, request_hash, ciphertext_hash, status, response, response_headers
   from idempotency_keys join unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, route, key)
     using (tenant_id, route, key)`,
)
const FIND_BY_JWE = statement<StoredRow>(
  'stored_responses_find_by_ciphertext',
  `select tenant_id, route, key, request_hash, ciphertext_hash, status, response, response_headers
   from idempotency_keys join unnest($1::text[], $2::bytea[]) as wanted (tenant_id, ciphertext_hash)
     using (tenant_id, ciphertext_hash)`,
)

// A plain insert on purpose: when another process committed the same key meanwhile, the unique key fails the batch,
// which then runs again and finds the first response.
const SAVE = statement(
  'stored_responses_save',
  `insert into idempotency_keys (tenant_id, route, key, request_hash, ciphertext_hash, status, response, response_headers, created_at)
   select *, $9::timestamptz
   from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::smallint[], $7::bytea[], $8::bytea[])
     as kept (tenant_id, route, key, request_hash, ciphertext_hash, status, response, response_headers) order by 1, 2, 3`,
)

const encryptText = (ciphertextHash: Uint8Array): string => Buffer.from(ciphertextHash).toString('base64')

/** First responses by key and by JWE: those in the database, and those that the batch itself adds. */
export class KnownResponses {
  readonly #byKey = new ByTenant(() => new NestedMap<[route: string, key: string], FirstResponse>())
  readonly #byJwe = new ByTenant(() => new Map<string, FirstResponse>())

  add(first: FirstResponse): void {
    const { tenantId, route, key, ciphertextHash } = first.key
    this.#byKey.of(tenantId).set([route, key], first)
    if (ciphertextHash) this.#byJwe.of(tenantId).set(encryptText(ciphertextHash), first)
  }

  #withKey({ tenantId, route, key }: ResponseKey): FirstResponse | undefined {
    return this.#byKey.of(tenantId).get(route, key)
  }

  #withJwe({ tenantId, ciphertextHash }: ResponseKey): FirstResponse | undefined {
    return ciphertextHash ? this.#byJwe.of(tenantId).get(encryptText(ciphertextHash)) : undefined
  }

  /** Decision C13. The first response when this is a repeat; a failure when the key or the JWE was used otherwise. */
  repeat(responseKey: ResponseKey): FirstResponse | undefined {
    const byKey = this.#withKey(responseKey)
    if (byKey)
      return Buffer.compare(byKey.key.requestHash, responseKey.requestHash) === 0
        ? byKey
        : fail('idempotency_key_reused')
    const byJwe = this.#withJwe(responseKey)
    if (!byJwe) return undefined
    return responseKey.key.startsWith('jwe ') ? byJwe : fail('encrypted_request_replayed')
  }

  /** Whether the key or the JWE was used before, rightly or not. */
  has(responseKey: ResponseKey): boolean {
    return (this.#withKey(responseKey) ?? this.#withJwe(responseKey)) !== undefined
  }
}

/** Responses of commands with an Idempotency-Key, written in the transaction of their command, encrypted. */
export class IdempotencyStore {
  readonly #keyring: Keyring

  constructor(keyring: Keyring) {
    this.#keyring = keyring
  }

  /** The installation that these responses and the encryption keys belong to. */
  get epoch(): string {
    return this.#keyring.epoch
  }

  async find(tx: Tx, keys: readonly ResponseKey[]): Promise<KnownResponses> {
    const known = new KnownResponses()
    if (keys.length === 0) return known
    const encrypted = keys.filter((key) => key.ciphertextHash)
    const [byKey, byJwe] = await Promise.all([
      tx.query(
        FIND,
        columns(
          keys,
          (k) => k.tenantId,
          (k) => k.route,
          (k) => k.key,
        ),
      ),
      encrypted.length > 0
        ? tx.query(
            FIND_BY_JWE,
            columns(
              encrypted,
              (k) => k.tenantId,
              (k) => k.ciphertextHash,
            ),
          )
        : [],
    ])
    for (const row of [...byKey, ...byJwe]) {
      const {
        tenant_id: tenantId,
        route,
        key: text,
        request_hash: requestHash,
        ciphertext_hash: ciphertextHash,
        status,
      } = row
      const key = { tenantId, route, key: text, requestHash, ciphertextHash }
      const body = this.#keyring.open('stored_answer', row.response, encryptionContext(key)).toString('utf8')
      const headers = row.response_headers && this.#openHeaders(row.response_headers, key)
      known.add({ key, response: { status, body, ...(headers && { headers }) } })
    }
    return known
  }

  #openHeaders(stored: Buffer, key: ResponseKey): Readonly<Record<string, string>> {
    const text = this.#keyring.open('stored_answer', stored, headersContext(key)).toString('utf8')
    return JSON.parse(text) as Readonly<Record<string, string>>
  }

  save(tx: Writes, responses: readonly { key: ResponseKey; response: HttpResponse }[], now: Date): void {
    tx.write(SAVE, [
      ...columns(
        responses,
        ({ key }) => key.tenantId,
        ({ key }) => key.route,
        ({ key }) => key.key,
        ({ key }) => key.requestHash,
        ({ key }) => key.ciphertextHash,
        ({ response: reply }) => reply.status,
        ({ key, response: reply }) =>
          this.#keyring.encrypt('stored_answer', Buffer.from(reply.body), encryptionContext(key)),
        ({ key, response: reply }) =>
          reply.headers
            ? this.#keyring.encrypt(
                'stored_answer',
                Buffer.from(JSON.stringify(reply.headers)),
                headersContext(key),
              )
            : null,
      ),
      now,
    ])
  }
}
