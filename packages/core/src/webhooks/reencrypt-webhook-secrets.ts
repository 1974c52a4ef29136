import type { EncryptedRows } from '@svc/platform/crypto/key-rotation'
import { encryptedWith } from '@svc/platform/crypto/keyring'
import { statement } from '@svc/platform/db/statement'
import { headersEncryptedFor } from './endpoint.ts'
import { secretEncryptedFor } from './endpoint-secrets.ts'

const ROWS = 500

interface Place {
  /** For the names of its statements. */
  readonly name: string
  readonly table: string
  readonly id: string
  readonly column: string
  readonly encryptedFor: (id: string) => string
}

/** Of rows that the newest key did not encrypt, a bounded number in a transaction, locked in order of id. */
function encryptedColumn({ name, table, id, column, encryptedFor }: Place): EncryptedRows {
  const COUNT = statement<{ rows: bigint }>(
    `${name}_encrypted_with`,
    `select count(*) as rows from ${table} where substr(${column}, 1, length($1::bytea)) = $1`,
  )
  const FORMER = statement<{ id: string; encrypted: Buffer }>(
    `${name}_to_reencrypt`,
    `select ${id} as id, ${column} as encrypted from ${table}
     where ${id} > $1 and substr(${column}, 1, length($2::bytea)) <> $2
     order by ${id} limit $3 for no key update`,
  )
  const REENCRYPT = statement(
    `${name}_reencrypt`,
    `update ${table} t set ${column} = n.encrypted
     from unnest($1::text[], $2::bytea[]) as n (id, encrypted) where t.${id} = n.id`,
  )
  return {
    purpose: 'webhook_secret',
    async count(tx, prefix) {
      return (await tx.query(COUNT, [prefix]))[0]!.rows
    },
    async reencrypt(tx, keyring, after) {
      const found = await tx.query(FORMER, [
        after,
        encryptedWith(keyring.newest('webhook_secret').keyId),
        ROWS,
      ])
      if (found.length === 0) return { rows: 0 }
      const encrypted = found.map((row) =>
        keyring.encrypt(
          'webhook_secret',
          keyring.open('webhook_secret', row.encrypted, encryptedFor(row.id)),
          encryptedFor(row.id),
        ),
      )
      await tx.query(REENCRYPT, [found.map((row) => row.id), encrypted])
      return { rows: found.length, ...(found.length === ROWS && { last: found.at(-1)!.id }) }
    },
  }
}

/** What the key of webhook secrets encrypts: signing secrets, and the headers that tenants have sent along. */
export const WEBHOOK_SECRETS: readonly EncryptedRows[] = [
  encryptedColumn({
    name: 'webhook_secrets',
    table: 'webhook_secrets',
    id: 'secret_id',
    column: 'encrypted',
    encryptedFor: secretEncryptedFor,
  }),
  encryptedColumn({
    name: 'webhook_headers',
    table: 'webhook_endpoints',
    id: 'endpoint_id',
    column: 'headers_encrypted',
    encryptedFor: headersEncryptedFor,
  }),
]
