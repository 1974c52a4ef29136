import type { SealedRows } from '../platform/crypto/key-rotation.ts'
import { sealedWith } from '../platform/crypto/keyring.ts'
import { statement } from '../platform/db/statement.ts'
import { openLine, sealLine } from './bulk-job.ts'

const ROWS = 500

const COUNT = statement<{ rows: bigint }>(
  'bulk_lines_sealed_with',
  `select count(*) as rows from bulk_rows where status = 'PENDING' and substr(content, 1, length($1::bytea)) = $1`,
)
// Those that are being carried out just now are passed over: they are done, or sealed anew, on the next round.
const FORMER = statement<{ job_id: string; line: number; content: Buffer }>(
  'bulk_lines_to_reseal',
  `select job_id, line, content from bulk_rows
   where status = 'PENDING' and (job_id, line) > ($1, $2) and substr(content, 1, length($3::bytea)) <> $3
   order by job_id, line limit $4 for no key update skip locked`,
)
const RESEAL = statement(
  'bulk_lines_reseal',
  `update bulk_rows r set content = n.content
   from unnest($1::text[], $2::integer[], $3::bytea[]) as n (job_id, line, content)
   where r.job_id = n.job_id and r.line = n.line`,
)

/** Waiting orders of bulk jobs, for the rotation of the key that seals them; with an order its content goes. */
export const BULK_LINES: SealedRows = {
  purpose: 'bulk_row',
  async count(tx, prefix) {
    return (await tx.query(COUNT, [prefix]))[0]!.rows
  },
  async reseal(tx, keyring, after) {
    const [jobId = '', line = '0'] = after.split(' ')
    const prefix = sealedWith(keyring.newest('bulk_row').keyId)
    const found = await tx.query(FORMER, [jobId, Number(line), prefix, ROWS])
    if (found.length === 0) return { rows: 0 }
    const anew = found.map((row) =>
      sealLine(keyring, row.job_id, row.line, openLine(keyring, row.job_id, row)),
    )
    await tx.query(RESEAL, [found.map((row) => row.job_id), found.map((row) => row.line), anew])
    const last = found.at(-1)!
    return { rows: found.length, ...(found.length === ROWS && { last: `${last.job_id} ${last.line}` }) }
  },
}
