import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Audience, MEMBERS, OPERATORS, type PersonKey, tenantKeys, whereKeys } from './audience.ts'

/** Passkeys of one person. */
const PASSKEYS_MAX = 20

/** A public key with which a person signs in (decisions O2 and O6). */
export interface Passkey {
  readonly passkeyId: string
  readonly owner: PersonKey
  readonly credentialId: Buffer
  /** COSE_Key (RFC 9052 section 7). */
  readonly publicKey: Buffer
  /** As the authenticator said last; 0 when it does not count. Below 2³². */
  readonly signCount: number
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

export type NewPasskey = Omit<Passkey, 'passkeyId' | 'lastUsedAt'>

/**
 * Whether a counter is that of a copy (WebAuthn level 3 section 6.1.1): it must rise with every use. Both are 0 for
 * authenticators that do not count, as those are that share a passkey between devices.
 */
export const isCopied = (stored: number, presented: number): boolean =>
  (stored > 0 || presented > 0) && presented <= stored

/** The statements of one audience. Parameters begin with the person's key, or with what of it is the tenant. */
function statementsOf(audience: Audience) {
  const { who, keys } = audience
  const [table, tenant] = [`${who}_passkeys`, tenantKeys(audience)]
  const where = whereKeys(keys)
  const [a, b, c, d, e, f, g] = Array.from({ length: 7 }, (_, n) => `$${keys.length + n + 1}`)
  const select = `select p.passkey_id as "passkeyId", array[${keys.map((key) => `p.${key}`).join(', ')}]::text[] as owner,
      p.credential_id as "credentialId", p.public_key as "publicKey", p.sign_count::float8 as "signCount", p.transports,
      p.name, p.created_at as "createdAt", p.last_used_at as "lastUsedAt"
    from ${table} p`
  const inTenant = (column: string) => whereKeys([...tenant, column])
  return {
    list: statement<Passkey>(
      `${table}_of`,
      `${select} where ${whereKeys(keys, 'p.')} order by p.created_at, p.passkey_id`,
    ),
    lock: statement<Passkey>(
      `${who}_passkey_lock`,
      `${select} where ${whereKeys([...tenant, 'credential_id'], 'p.')} for no key update of p`,
    ),
    // The row of the person orders registrations, so that two at once do not pass the limit.
    lockPerson: statement(`${table}_lock_${who}`, `select 1 from ${who}s where ${where} for no key update`),
    insert: statement<object>(
      `${who}_passkey_insert`,
      `insert into ${table}
         (${keys.join(', ')}, passkey_id, credential_id, public_key, sign_count, transports, name, created_at)
       values (${keys.map((_, n) => `$${n + 1}`).join(', ')}, ${a}, ${b}, ${c}, ${d}, ${e}, ${f}, ${g})
       on conflict (${[...tenant, 'credential_id'].join(', ')}) do nothing returning passkey_id`,
    ),
    used: statement(
      `${who}_passkey_used`,
      `update ${table} set sign_count = $${tenant.length + 2}, last_used_at = $${tenant.length + 3}
       where ${inTenant('passkey_id')}`,
    ),
    remove: statement<object>(
      `${who}_passkey_remove`,
      `delete from ${table} where ${where} and passkey_id = ${a} returning passkey_id`,
    ),
    removeAll: statement<object>(
      `${table}_remove`,
      `delete from ${table} where ${where} returning passkey_id`,
    ),
  }
}

/** The passkeys of one audience. */
export class PasskeyStore {
  readonly #to: ReturnType<typeof statementsOf>

  constructor(audience: Audience) {
    this.#to = statementsOf(audience)
  }

  /** Oldest first. */
  readonly list = (tx: Tx, owner: PersonKey): Promise<Passkey[]> => tx.query(this.#to.list, [...owner])

  /** By the credential; of a member within the tenant, which is the first of the key. */
  async lock(tx: Tx, tenant: readonly string[], credentialId: Uint8Array): Promise<Passkey | undefined> {
    return (await tx.query(this.#to.lock, [...tenant, credentialId]))[0]
  }

  /** Throws `too_many_passkeys`, and `already_exists` for a credential that is registered. */
  async insert(tx: Tx, random: RandomBytes, passkey: NewPasskey): Promise<Passkey> {
    const { owner, credentialId, publicKey, signCount, transports, name, createdAt } = passkey
    await tx.query(this.#to.lockPerson, [...owner])
    if ((await this.list(tx, owner)).length >= PASSKEYS_MAX) fail('too_many_passkeys')
    const passkeyId = newId('pky', createdAt.getTime(), random)
    const row = [...owner, passkeyId, credentialId, publicKey, signCount, transports, name, createdAt]
    const [inserted] = await tx.query(this.#to.insert, row)
    if (!inserted) fail('already_exists', { description: 'This passkey is registered already' })
    return { ...passkey, passkeyId, lastUsedAt: null }
  }

  readonly use = (tx: Tx, { owner, passkeyId }: Passkey, signCount: number, usedAt: Date): Promise<unknown> =>
    tx.query(this.#to.used, [...owner.slice(0, -1), passkeyId, signCount, usedAt])

  /** Whether the person had this passkey. */
  readonly remove = async (tx: Tx, owner: PersonKey, passkeyId: string): Promise<boolean> =>
    (await tx.query(this.#to.remove, [...owner, passkeyId])).length > 0

  /** How many there were. */
  readonly removeAll = async (tx: Tx, owner: PersonKey): Promise<number> =>
    (await tx.query(this.#to.removeAll, [...owner])).length
}

export const OPERATOR_PASSKEYS = new PasskeyStore(OPERATORS)
export const MEMBER_PASSKEYS = new PasskeyStore(MEMBERS)
