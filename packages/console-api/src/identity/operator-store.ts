import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { withdrawAddressesOf } from '@svc/core/tenants/merchant'
import { type RandomBytes } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { hasSecondFactor, OPERATORS } from './audience.ts'
import { covers, permits, type Role } from './permissions.ts'
import { OPERATOR_SESSIONS } from './session-store.ts'

/** A user of the console (decision O2). */
export interface OperatorAccount {
  readonly operatorId: string
  readonly name: string
  readonly role: Role
  readonly createdAt: Date
  readonly disabledAt: Date | null
  readonly lastSignInAt: Date | null
  /** A passkey or an authenticator app: a password alone is not enough. */
  readonly hasSecondFactor: boolean
}

export const OPERATOR_COLUMNS = `o.operator_id as "operatorId", o.name, o.role, o.created_at as "createdAt",
  o.disabled_at as "disabledAt", o.last_sign_in_at as "lastSignInAt", ${hasSecondFactor(OPERATORS, 'o')} as "hasSecondFactor"`

const NAME = /^[a-z0-9][a-z0-9._@-]{1,63}$/
export const OPERATOR_NAME_PATTERN = NAME.source
export const isOperatorName = (text: string): boolean => NAME.test(text)

/** Who signs in with one click, in the sandbox alone. */
export const SANDBOX_OPERATOR = 'sandbox'

const INSERT = statement<OperatorAccount>(
  'operator_insert',
  `insert into operators as o (operator_id, name, role, password_hash, created_at)
   values ($1, $2, $3, $4, clock_timestamp()) on conflict (name) do nothing returning ${OPERATOR_COLUMNS}`,
)
const FIND = statement<OperatorAccount>(
  'operator_find',
  `select ${OPERATOR_COLUMNS} from operators o where o.operator_id = $1 or o.name = $1`,
)
const CREDENTIALS = statement<OperatorAccount & { passwordHash: string | null }>(
  'operator_credentials',
  `select ${OPERATOR_COLUMNS}, o.password_hash as "passwordHash" from operators o where o.name = $1 and o.disabled_at is null`,
)
const CAN_ADMINISTER = `o.role = 'admin' and o.disabled_at is null and o.name <> '${SANDBOX_OPERATOR}'
     and (o.password_hash is not null
       or exists (select from operator_identities i where i.operator_id = o.operator_id)
       or exists (select from operator_passkeys p where p.operator_id = o.operator_id))`
// Those who can sign in anywhere. They lock each other, so that the last two cannot step down at once.
const LOCK_ADMINS = statement<{ operator_id: string }>(
  'operators_lock_admins',
  `select o.operator_id from operators o where ${CAN_ADMINISTER} order by o.operator_id for no key update`,
)
const COUNT_ADMINS = statement<{ count: number }>(
  'operators_count_admins',
  `select count(*)::int as count from operators o where ${CAN_ADMINISTER}`,
)
const CHANGE = statement<OperatorAccount>(
  'operator_change',
  `update operators o set role = coalesce($2, role),
     disabled_at = case when $3::boolean is null then disabled_at when $3 then coalesce(disabled_at, clock_timestamp()) end
   where o.operator_id = $1 returning ${OPERATOR_COLUMNS}`,
)
const SET_PASSWORD = statement(
  'operator_set_password',
  'update operators set password_hash = $2 where operator_id = $1',
)
/** Whether anybody can sign in to administer operators; the sandbox's one-click administrator does not count. */
export const hasAdministrator = async (tx: Tx): Promise<boolean> =>
  (await tx.query(COUNT_ADMINS))[0]!.count > 0

/** By id or by name. */
export async function findOperator(tx: Tx, idOrName: string): Promise<OperatorAccount | undefined> {
  return (await tx.query(FIND, [idOrName]))[0]
}

/** The active operator of this name with the hash to check a password against. */
export async function findCredentials(tx: Tx, name: string) {
  const [row] = await tx.query(CREDENTIALS, [name])
  if (!row) return undefined
  const { passwordHash, ...operator } = row
  return { operator, passwordHash }
}

export interface NewOperator {
  readonly name: string
  readonly role: Role
  /** argon2id; `null` for who signs in without a password, in the sandbox. */
  readonly passwordHash: string | null
}

/** Throws `already_exists` for a name that is taken. */
export async function insertOperator(
  tx: Tx,
  random: RandomBytes,
  { name, role, passwordHash }: NewOperator,
): Promise<OperatorAccount> {
  const [row] = await tx.query(INSERT, [newId('opr', Date.now(), random), name, role, passwordHash])
  if (!row) return fail('already_exists', { description: `name: another operator is called ${name}` })
  return row
}

export interface OperatorChange {
  readonly role?: Role | undefined
  readonly disabled?: boolean | undefined
}

/**
 * Changes role or access, by id. An operator who is disabled or loses rights is signed out everywhere, and what they entered
 * and still waits is taken back. `undefined` for none such.
 */
export async function updateOperator(
  tx: Tx,
  operatorId: string,
  { role, disabled }: OperatorChange,
): Promise<OperatorAccount | undefined> {
  const admins = await tx.query(LOCK_ADMINS)
  const previous = await findOperator(tx, operatorId)
  if (previous?.operatorId !== operatorId) return undefined
  const stepsDown = disabled === true || (role !== undefined && role !== 'admin')
  if (stepsDown && admins.length === 1 && admins[0]!.operator_id === operatorId) fail('last_administrator')
  const [row] = await tx.query(CHANGE, [operatorId, role, disabled])
  if (disabled === true || (role !== undefined && !covers(role, previous.role)))
    await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
  if (disabled === true || (role !== undefined && !permits(role, 'operations')))
    await withdrawAddressesOf(tx, `operator ${previous.name}`)
  return row
}

/** Sets a new password; all sessions end but the one that is kept. */
export async function setPasswordHash(
  tx: Tx,
  operatorId: string,
  passwordHash: string,
  keep?: Uint8Array,
): Promise<void> {
  await tx.query(SET_PASSWORD, [operatorId, passwordHash])
  await OPERATOR_SESSIONS.endOthers(tx, [operatorId], keep)
}
