import { fail } from '../../errors.ts'
import type { Keyring } from '../crypto/keyring.ts'
import type { Tx, Writes } from './database.ts'
import { columns, statement } from './statement.ts'

/** What a caller gets: status and body, ready to send and to be repeated byte for byte. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** Under which an answer is kept: the caller's Idempotency-Key, and what its request hashed to. */
export interface AnswerKey {
  readonly tenantId: string
  readonly route: string
  /** The caller's key; for a sealed request without one, `seal ` and its seal's hash. */
  readonly key: string
  readonly requestHash: Uint8Array
  /** Of a sealed request: a seal counts once, whatever key it came with. */
  readonly sealHash: Uint8Array | null
}

interface FirstAnswer {
  readonly key: AnswerKey
  readonly answer: Answer
}

export const keyText = ({ tenantId, route, key }: AnswerKey): string => `${tenantId} ${route} ${key}`

interface StoredRow {
  tenant_id: string
  route: string
  key: string
  request_hash: Buffer
  seal_hash: Buffer | null
  status: number
  answer: Buffer
}

const FIND = statement<StoredRow>(
  'stored_answers_find',
  `select tenant_id, route, key, request_hash, seal_hash, status, answer
   from idempotency_keys join unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, route, key)
     using (tenant_id, route, key)`,
)
const FIND_BY_SEAL = statement<StoredRow>(
  'stored_answers_find_by_seal',
  `select tenant_id, route, key, request_hash, seal_hash, status, answer
   from idempotency_keys join unnest($1::text[], $2::bytea[]) as wanted (tenant_id, seal_hash)
     using (tenant_id, seal_hash)`,
)

// A plain insert on purpose: when another process committed the same key meanwhile, the unique key fails the batch,
// which then runs again and finds the first answer.
const SAVE = statement(
  'stored_answers_save',
  `insert into idempotency_keys (tenant_id, route, key, request_hash, seal_hash, status, answer, created_at)
   select *, $8::timestamptz
   from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::smallint[], $7::bytea[])
     as kept (tenant_id, route, key, request_hash, seal_hash, status, answer) order by 1, 2, 3`,
)

const sealText = (tenantId: string, sealHash: Uint8Array): string =>
  `${tenantId} ${Buffer.from(sealHash).toString('base64')}`

/** First answers by key and by seal: those in the database, and those that the batch itself adds. */
export class KnownAnswers {
  readonly #byKey = new Map<string, FirstAnswer>()
  readonly #bySeal = new Map<string, FirstAnswer>()

  add(first: FirstAnswer): void {
    this.#byKey.set(keyText(first.key), first)
    if (first.key.sealHash) this.#bySeal.set(sealText(first.key.tenantId, first.key.sealHash), first)
  }

  /** Decision C13. The first answer when this is a repeat; a failure when the key or the seal was used otherwise. */
  repeat(asked: AnswerKey): Answer | undefined {
    const byKey = this.#byKey.get(keyText(asked))
    if (byKey)
      return Buffer.compare(byKey.key.requestHash, asked.requestHash) === 0
        ? byKey.answer
        : fail('idempotency_key_reused')
    const bySeal = asked.sealHash && this.#bySeal.get(sealText(asked.tenantId, asked.sealHash))
    if (!bySeal) return undefined
    return asked.key.startsWith('seal ') ? bySeal.answer : fail('seal_replayed')
  }

  /** Whether the key or the seal was used before, rightly or not. */
  has(asked: AnswerKey): boolean {
    return (
      this.#byKey.has(keyText(asked)) ||
      (asked.sealHash !== null && this.#bySeal.has(sealText(asked.tenantId, asked.sealHash)))
    )
  }
}

/** Answers of commands with an Idempotency-Key, written in the transaction of their command, encrypted. */
export class StoredAnswers {
  readonly #keyring: Keyring

  constructor(keyring: Keyring) {
    this.#keyring = keyring
  }

  /** The data that these answers, and the keys that seal, belong to. */
  get epoch(): string {
    return this.#keyring.epoch
  }

  async find(tx: Tx, keys: readonly AnswerKey[]): Promise<KnownAnswers> {
    const known = new KnownAnswers()
    if (keys.length === 0) return known
    const sealed = keys.filter((key) => key.sealHash)
    const [byKey, bySeal] = await Promise.all([
      tx.query(
        FIND,
        columns(
          keys,
          (k) => k.tenantId,
          (k) => k.route,
          (k) => k.key,
        ),
      ),
      sealed.length > 0
        ? tx.query(
            FIND_BY_SEAL,
            columns(
              sealed,
              (k) => k.tenantId,
              (k) => k.sealHash,
            ),
          )
        : [],
    ])
    for (const row of [...byKey, ...bySeal]) {
      const {
        tenant_id: tenantId,
        route,
        key: text,
        request_hash: requestHash,
        seal_hash: sealHash,
        status,
      } = row
      const key = { tenantId, route, key: text, requestHash, sealHash }
      const body = this.#keyring.open('stored_answer', row.answer, keyText(key)).toString('utf8')
      known.add({ key, answer: { status, body } })
    }
    return known
  }

  save(tx: Writes, answers: readonly { key: AnswerKey; answer: Answer }[], now: Date): void {
    tx.write(SAVE, [
      ...columns(
        answers,
        ({ key }) => key.tenantId,
        ({ key }) => key.route,
        ({ key }) => key.key,
        ({ key }) => key.requestHash,
        ({ key }) => key.sealHash,
        ({ answer }) => answer.status,
        ({ key, answer }) => this.#keyring.seal('stored_answer', Buffer.from(answer.body), keyText(key)),
      ),
      now,
    ])
  }
}
