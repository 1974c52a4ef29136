import { statement } from '../db/statement.ts'
import type { EncryptedRows } from './key-rotation.ts'
import { type EncryptingPurpose, encryptedWith } from './keyring.ts'

const ROWS = 500

export interface EncryptedColumn {
  readonly purpose: EncryptingPurpose
  readonly table: string
  /** Columns that identify a row: texts without spaces. */
  readonly key: readonly string[]
  readonly column: string
  /** What the value of a row is bound to, by its key. */
  readonly encryptedFor: (...key: readonly string[]) => string
  /** Rows of a transaction, where values are large; 500 by default. */
  readonly rowsAtOnce?: number
}

/** SQL: whether a value begins in one of the ways of `$1`, which are of one length. */
export const beginsWith = (column: string): string =>
  `substr(${column}, 1, length(($1::bytea[])[1])) = any ($1)`

/** A column of which every value is encrypted: rows are locked in order of their key, a bounded number in a transaction. */
export function encryptedColumn(place: EncryptedColumn): EncryptedRows {
  const { purpose, table, key, column, encryptedFor, rowsAtOnce = ROWS } = place
  const name = `${table}_${column}`
  const keys = key.join(', ')
  const after = key.map((_, n) => `$${n + 1}`).join(', ')
  const [prefix, limit] = [`$${key.length + 1}::bytea`, `$${key.length + 2}`]
  const COUNT = statement<{ rows: bigint }>(
    `${name}_encrypted_with`,
    `select count(*) as rows from ${table} where ${beginsWith(column)}`,
  )
  const TO_REENCRYPT = statement<{ key: string[]; encrypted: Buffer }>(
    `${name}_to_reencrypt`,
    `select array[${keys}]::text[] as key, ${column} as encrypted from ${table}
     where (${keys}) > (${after}) and substr(${column}, 1, length(${prefix})) <> ${prefix}
     order by ${keys} limit ${limit} for no key update`,
  )
  const REENCRYPT = statement(
    `${name}_reencrypt`,
    `update ${table} t set ${column} = n.encrypted
     from unnest(${key.map((_, n) => `$${n + 1}::text[]`).join(', ')}, ${prefix}[]) as n (${keys}, encrypted)
     where ${key.map((each) => `t.${each} = n.${each}`).join(' and ')}`,
  )
  return {
    purpose,
    async count(tx, begins) {
      return (await tx.query(COUNT, [begins]))[0]!.rows
    },
    async reencrypt(tx, keyring, last) {
      const from = last.split(' ')
      const newest = encryptedWith(keyring.newest(purpose).keyId)
      const found = await tx.query(TO_REENCRYPT, [...key.map((_, n) => from[n] ?? ''), newest, rowsAtOnce])
      if (found.length === 0) return { rows: 0 }
      const encrypted = found.map((row) => {
        const boundTo = encryptedFor(...row.key)
        return keyring.encrypt(purpose, keyring.open(purpose, row.encrypted, boundTo), boundTo)
      })
      await tx.query(REENCRYPT, [...key.map((_, n) => found.map((row) => row.key[n]!)), encrypted])
      return { rows: found.length, ...(found.length === rowsAtOnce && { last: found.at(-1)!.key.join(' ') }) }
    },
  }
}
