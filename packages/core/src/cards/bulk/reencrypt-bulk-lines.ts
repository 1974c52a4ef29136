import { beginsWith } from '@svc/platform/crypto/encrypted-column'
import type { EncryptedRows } from '@svc/platform/crypto/key-rotation'
import { encryptedWith } from '@svc/platform/crypto/keyring'
import { statement } from '@svc/platform/db/statement'
import { encryptLine, openLine } from './bulk-job.ts'

const ROWS = 500

const COUNT = statement<{ rows: bigint }>(
  'bulk_lines_encrypted_with',
  `select count(*) as rows from bulk_rows where status = 'PENDING' and ${beginsWith('content')}`,
)
// Those that are being carried out just now are passed over: they are done, or encrypted again, on the next round.
const TO_REENCRYPT = statement<{ partner_id: string; job_id: string; line: number; content: Buffer }>(
  'bulk_lines_to_reencrypt',
  `select partner_id, job_id, line, content from bulk_rows
   where status = 'PENDING' and (job_id, line) > ($1, $2) and substr(content, 1, length($3::bytea)) <> $3
   order by job_id, line limit $4 for no key update skip locked`,
)
const REENCRYPT = statement(
  'bulk_lines_reencrypt',
  `update bulk_rows r set content = n.content
   from unnest($1::text[], $2::text[], $3::integer[], $4::bytea[]) as n (partner_id, job_id, line, content)
   where r.partner_id = n.partner_id and r.job_id = n.job_id and r.line = n.line`,
)

/** Waiting orders of bulk jobs, for the rotation of the key that encrypts them; the content is deleted with its order. */
export const BULK_LINES: EncryptedRows = {
  purpose: 'bulk_row',
  async count(tx, begins) {
    return (await tx.query(COUNT, [begins]))[0]!.rows
  },
  async reencrypt(tx, keyring, after) {
    const [jobId = '', line = '0'] = after.split(' ')
    const prefix = encryptedWith(keyring.newest('bulk_row').keyId)
    const found = await tx.query(TO_REENCRYPT, [jobId, Number(line), prefix, ROWS])
    if (found.length === 0) return { rows: 0 }
    const anew = found.map((row) =>
      encryptLine(keyring, row.job_id, row.line, openLine(keyring, row.job_id, row)),
    )
    await tx.query(REENCRYPT, [
      found.map((row) => row.partner_id),
      found.map((row) => row.job_id),
      found.map((row) => row.line),
      anew,
    ])
    const last = found.at(-1)!
    return { rows: found.length, ...(found.length === ROWS && { last: `${last.job_id} ${last.line}` }) }
  },
}
