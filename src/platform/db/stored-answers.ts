import type { Keyring } from '../crypto/keyring.ts'
import type { Answer } from './batch.ts'
import type { Tx } from './database.ts'
import { columns, statement } from './statement.ts'

/** Under which an answer is kept: the caller's Idempotency-Key, and what its request hashed to. */
export interface AnswerKey {
  readonly tenantId: string
  readonly route: string
  readonly key: string
  readonly requestHash: Uint8Array
}

export const keyText = ({ tenantId, route, key }: AnswerKey): string => `${tenantId} ${route} ${key}`

const FIND = statement<{ tenant_id: string; route: string; key: string; request_hash: Buffer; status: number; answer: Buffer }>(
  'stored_answers_find',
  `select tenant_id, route, key, request_hash, status, answer
   from idempotency_keys join unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, route, key)
     using (tenant_id, route, key)`,
)

// A plain insert on purpose: when another process committed the same key meanwhile, the unique key fails the batch,
// which then runs again and finds the first answer.
const SAVE = statement(
  'stored_answers_save',
  `insert into idempotency_keys (tenant_id, route, key, request_hash, status, answer, created_at)
   select *, $7::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::smallint[], $6::bytea[])
     as kept (tenant_id, route, key, request_hash, status, answer) order by 1, 2, 3`,
)

/** Answers of commands with an Idempotency-Key, written in the transaction of their command, encrypted. */
export class StoredAnswers {
  readonly #keyring: Keyring

  constructor(keyring: Keyring) {
    this.#keyring = keyring
  }

  async find(tx: Tx, keys: readonly AnswerKey[]): Promise<Map<string, { hash: Uint8Array; answer: Answer }>> {
    const found = new Map<string, { hash: Uint8Array; answer: Answer }>()
    if (keys.length === 0) return found
    const rows = await tx.query(FIND, columns(keys, (k) => k.tenantId, (k) => k.route, (k) => k.key))
    for (const row of rows) {
      const name = keyText({ tenantId: row.tenant_id, route: row.route, key: row.key, requestHash: row.request_hash })
      const body = this.#keyring.open('stored_answer', row.answer, name).toString('utf8')
      found.set(name, { hash: row.request_hash, answer: { status: row.status, body } })
    }
    return found
  }

  async save(tx: Tx, answers: readonly { key: AnswerKey; answer: Answer }[], now: Date): Promise<void> {
    await tx.query(SAVE, [
      ...columns(
        answers,
        ({ key }) => key.tenantId,
        ({ key }) => key.route,
        ({ key }) => key.key,
        ({ key }) => key.requestHash,
        ({ answer }) => answer.status,
        ({ key, answer }) => this.#keyring.seal('stored_answer', Buffer.from(answer.body), keyText(key)),
      ),
      now,
    ])
  }
}
