import type { SealedRows } from '../crypto/key-rotation.ts'
import { statement } from './statement.ts'

const COUNT = statement<{ rows: bigint }>(
  'stored_answers_sealed_with',
  'select count(*) as rows from idempotency_keys where substr(answer, 1, length($1::bytea)) = $1',
)

/** Stored answers are not sealed anew: within their time they are gone, and their key with them. */
export const STORED_ANSWERS: SealedRows = {
  purpose: 'stored_answer',
  async count(tx, prefix) {
    return (await tx.query(COUNT, [prefix]))[0]!.rows
  },
}
