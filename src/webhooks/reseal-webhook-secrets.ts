import type { SealedRows } from '../platform/crypto/key-rotation.ts'
import { sealedWith } from '../platform/crypto/keyring.ts'
import { statement } from '../platform/db/statement.ts'
import { headersSealedFor } from './endpoint.ts'
import { secretSealedFor } from './endpoint-secrets.ts'

const ROWS = 500

interface Place {
  /** For the names of its statements. */
  readonly name: string
  readonly table: string
  readonly id: string
  readonly column: string
  readonly sealedFor: (id: string) => string
}

/** Of rows that the newest key did not seal, a bounded number in a transaction, locked in order of id. */
function sealedColumn({ name, table, id, column, sealedFor }: Place): SealedRows {
  const COUNT = statement<{ rows: bigint }>(
    `${name}_sealed_with`,
    `select count(*) as rows from ${table} where substr(${column}, 1, length($1::bytea)) = $1`,
  )
  const FORMER = statement<{ id: string; sealed: Buffer }>(
    `${name}_to_reseal`,
    `select ${id} as id, ${column} as sealed from ${table}
     where ${id} > $1 and substr(${column}, 1, length($2::bytea)) <> $2
     order by ${id} limit $3 for no key update`,
  )
  const RESEAL = statement(
    `${name}_reseal`,
    `update ${table} t set ${column} = n.sealed
     from unnest($1::text[], $2::bytea[]) as n (id, sealed) where t.${id} = n.id`,
  )
  return {
    purpose: 'webhook_secret',
    async count(tx, prefix) {
      return (await tx.query(COUNT, [prefix]))[0]!.rows
    },
    async reseal(tx, keyring, after) {
      const found = await tx.query(FORMER, [after, sealedWith(keyring.newest('webhook_secret').keyId), ROWS])
      if (found.length === 0) return { rows: 0 }
      const sealed = found.map((row) =>
        keyring.seal(
          'webhook_secret',
          keyring.open('webhook_secret', row.sealed, sealedFor(row.id)),
          sealedFor(row.id),
        ),
      )
      await tx.query(RESEAL, [found.map((row) => row.id), sealed])
      return { rows: found.length, ...(found.length === ROWS && { last: found.at(-1)!.id }) }
    },
  }
}

/** What the key of webhook secrets seals: signing secrets, and the headers that tenants have sent along. */
export const WEBHOOK_SECRETS: readonly SealedRows[] = [
  sealedColumn({
    name: 'webhook_secrets',
    table: 'webhook_secrets',
    id: 'secret_id',
    column: 'sealed',
    sealedFor: secretSealedFor,
  }),
  sealedColumn({
    name: 'webhook_headers',
    table: 'webhook_endpoints',
    id: 'endpoint_id',
    column: 'headers_sealed',
    sealedFor: headersSealedFor,
  }),
]
