import { beginsWith } from '../crypto/encrypted-column.ts'
import type { EncryptedRows } from '../crypto/key-rotation.ts'
import { statement } from './statement.ts'

const COUNT = statement<{ rows: bigint }>(
  'stored_responses_encrypted_with',
  `select count(*) as rows from idempotency_keys where ${beginsWith('response')}`,
)

/** Stored responses are not re-encrypted: they expire soon, and their key with them. */
export const STORED_RESPONSES: EncryptedRows = {
  purpose: 'stored_answer',
  async count(tx, begins) {
    return (await tx.query(COUNT, [begins]))[0]!.rows
  },
}
