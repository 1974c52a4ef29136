import { type EncryptedRows, retiredRows } from '@svc/platform/crypto/key-rotation'
import type { EncryptingPurpose } from '@svc/platform/crypto/keyring'
import { ClientTx } from '@svc/platform/db/database'
import type pg from 'pg'
import { ENCRYPTED_ROWS } from '../encrypted-rows.ts'
import { type Check, fail, pass, warn } from './finding.ts'

/** Only operators see the rows of all tenants. */
const AS_OPERATOR = 'begin read only; set local role svc_operator; set local search_path = svc'

interface Left {
  readonly rows: bigint
  /** Whether a rotation encrypts them again; others expire. */
  readonly isRotated: boolean
}

/**
 * Rows that a process encrypted after the end of a rotation of which it did not know: it had been stopped, or cut off
 * from the database (decision C4).
 */
export const retiredKeys: Check = {
  name: 'retired_keys',
  stages: ['running'],
  async examine({ config, address, connect }) {
    if ('url' in address && address.operatorUrl === undefined)
      return [pass('DATABASE_OPERATOR_URL is not set: rows that retired keys encrypted are not counted')]
    const left = await leftRows(await connect('svc_operator'))
    if (left.size === 0) return [pass('no row is encrypted with a retired key')]
    return [...left].map(([purpose, { rows, isRotated }]) =>
      isRotated
        ? fail(
            `${rows} rows are encrypted with a retired ${purpose} key; encrypt them again with: svc admin keys rotate ${purpose}`,
          )
        : warn(
            `${rows} rows are encrypted with a retired ${purpose} key; they expire within ${config.IDEMPOTENCY_HOURS} hours`,
          ),
    )
  },
}

async function leftRows(client: pg.ClientBase): Promise<Map<EncryptingPurpose, Left>> {
  const left = new Map<EncryptingPurpose, Left>()
  await client.query(AS_OPERATOR)
  try {
    const tx = new ClientTx(client as pg.PoolClient, undefined)
    for (const place of ENCRYPTED_ROWS) add(left, place, await retiredRows(tx, place))
  } finally {
    await client.query('rollback')
  }
  return left
}

function add(left: Map<EncryptingPurpose, Left>, { purpose, reencrypt }: EncryptedRows, rows: bigint): void {
  if (rows === 0n) return
  const known = left.get(purpose) ?? { rows: 0n, isRotated: reencrypt !== undefined }
  left.set(purpose, { ...known, rows: known.rows + rows })
}
