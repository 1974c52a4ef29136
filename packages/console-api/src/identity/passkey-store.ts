import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

/** Passkeys of one operator. */
const PASSKEYS_MAX = 20

/** A public key with which an operator signs in (decision O2). */
export interface Passkey {
  readonly passkeyId: string
  readonly operatorId: string
  readonly credentialId: Buffer
  /** COSE_Key (RFC 9052 section 7). */
  readonly publicKey: Buffer
  /** As the authenticator said last; 0 when it does not count. */
  readonly signCount: number
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

interface PasskeyRow {
  passkey_id: string
  operator_id: string
  credential_id: Buffer
  public_key: Buffer
  /** `float8`: below 2³². */
  sign_count: number
  transports: string[]
  name: string
  created_at: Date
  last_used_at: Date | null
}

const toPasskey = (row: PasskeyRow): Passkey => ({
  passkeyId: row.passkey_id,
  operatorId: row.operator_id,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  signCount: row.sign_count,
  transports: row.transports,
  name: row.name,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
})

const SELECT = `select p.passkey_id, p.operator_id, p.credential_id, p.public_key, p.sign_count::float8 as sign_count,
    p.transports, p.name, p.created_at, p.last_used_at
  from operator_passkeys p`
const OF_OPERATOR = statement<PasskeyRow>(
  'operator_passkeys_of',
  `${SELECT} where p.operator_id = $1 order by p.created_at, p.passkey_id`,
)
const LOCK = statement<PasskeyRow>(
  'operator_passkey_lock',
  `${SELECT} where p.credential_id = $1 for no key update of p`,
)
// The row of the operator orders registrations, so that two at once do not pass the limit.
const LOCK_OPERATOR = statement(
  'operator_passkeys_lock_operator',
  'select 1 from operators where operator_id = $1 for no key update',
)
const INSERT = statement<{ passkey_id: string }>(
  'operator_passkey_insert',
  `insert into operator_passkeys
     (passkey_id, operator_id, credential_id, public_key, sign_count, transports, name, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (credential_id) do nothing returning passkey_id`,
)
const USED = statement(
  'operator_passkey_used',
  'update operator_passkeys set sign_count = $2, last_used_at = $3 where passkey_id = $1',
)
const REMOVE = statement<{ passkey_id: string }>(
  'operator_passkey_remove',
  'delete from operator_passkeys where operator_id = $1 and passkey_id = $2 returning passkey_id',
)
const REMOVE_ALL = statement<{ passkey_id: string }>(
  'operator_passkeys_remove',
  'delete from operator_passkeys where operator_id = $1 returning passkey_id',
)

/**
 * Whether a counter is that of a copy (WebAuthn level 3 section 6.1.1): it must rise with every use. Both are 0 for
 * authenticators that do not count, as those are that share a passkey between devices.
 */
export const isCopied = (stored: number, presented: number): boolean =>
  (stored > 0 || presented > 0) && presented <= stored

/** Oldest first. */
export const listPasskeys = async (tx: Tx, operatorId: string): Promise<Passkey[]> =>
  (await tx.query(OF_OPERATOR, [operatorId])).map(toPasskey)

export async function lockPasskey(tx: Tx, credentialId: Uint8Array): Promise<Passkey | undefined> {
  const [row] = await tx.query(LOCK, [credentialId])
  return row && toPasskey(row)
}

export type NewPasskey = Omit<Passkey, 'passkeyId' | 'lastUsedAt'>

/** Throws `too_many_passkeys`, and `already_exists` for a credential that is registered. */
export async function insertPasskey(tx: Tx, random: RandomBytes, passkey: NewPasskey): Promise<Passkey> {
  const { operatorId, credentialId, publicKey, signCount, transports, name, createdAt } = passkey
  await tx.query(LOCK_OPERATOR, [operatorId])
  if ((await listPasskeys(tx, operatorId)).length >= PASSKEYS_MAX) fail('too_many_passkeys')
  const passkeyId = newId('pky', createdAt.getTime(), random)
  const [row] = await tx.query(INSERT, [
    passkeyId,
    operatorId,
    credentialId,
    publicKey,
    signCount,
    transports,
    name,
    createdAt,
  ])
  if (!row) fail('already_exists', { description: 'This passkey is registered already' })
  return { ...passkey, passkeyId, lastUsedAt: null }
}

export const usePasskey = (
  tx: Tx,
  { passkeyId }: Passkey,
  signCount: number,
  usedAt: Date,
): Promise<unknown> => tx.query(USED, [passkeyId, signCount, usedAt])

/** Whether the operator had this passkey. */
export const removePasskeyOf = async (tx: Tx, operatorId: string, passkeyId: string): Promise<boolean> =>
  (await tx.query(REMOVE, [operatorId, passkeyId])).length > 0

/** How many there were. */
export const removeAllPasskeys = async (tx: Tx, operatorId: string): Promise<number> =>
  (await tx.query(REMOVE_ALL, [operatorId])).length
