import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

export interface TotpRow {
  readonly secret_encrypted: Buffer
  readonly confirmed_at: Date | null
  /** `float8`: periods since 1970. */
  readonly last_step: number
  readonly wrong_codes: number
  readonly locked_until: Date | null
}

/** Where the second factors of one kind of person are. */
export interface FactorStore<Owner> {
  /** The same for ever: secrets and recovery codes are bound to it. */
  nameOf(owner: Owner): string
  find(tx: Tx, owner: Owner): Promise<TotpRow | undefined>
  lock(tx: Tx, owner: Owner): Promise<TotpRow | undefined>
  /** A secret that does not count yet. False where one counts. */
  begin(tx: Tx, owner: Owner, encrypted: Buffer, now: Date): Promise<boolean>
  right(tx: Tx, owner: Owner, step: number, now: Date): Promise<unknown>
  wrong(tx: Tx, owner: Owner, wrongCodes: number, lockedUntil: Date | null): Promise<unknown>
  /** Instead of those of before. */
  setCodes(tx: Tx, owner: Owner, digests: readonly Buffer[]): Promise<void>
  useCode(tx: Tx, owner: Owner, digest: Buffer, now: Date): Promise<boolean>
  codesLeft(tx: Tx, owner: Owner): Promise<number>
  /** Removes it with its recovery codes. False where there was none. */
  remove(tx: Tx, owner: Owner): Promise<boolean>
}

/** The statements of one pair of tables, whose keys begin with these columns. */
function statementsOf(who: 'operator' | 'member', key: readonly string[]) {
  const [totp, codes] = [`${who}_totp`, `${who}_recovery_codes`]
  const keys = key.join(', ')
  const given = key.map((_, n) => `$${n + 1}::text`).join(', ')
  const where = `where (${keys}) = (${given})`
  const [a, b] = [`$${key.length + 1}`, `$${key.length + 2}`]
  const select = `select secret_encrypted, confirmed_at, last_step::float8 as last_step, wrong_codes, locked_until
    from ${totp} ${where}`
  return {
    find: statement<TotpRow>(`${totp}_find`, select),
    lock: statement<TotpRow>(`${totp}_lock`, `${select} for no key update`),
    begin: statement<object>(
      `${totp}_begin`,
      `insert into ${totp} as t (${keys}, secret_encrypted, created_at) values (${given}, ${a}, ${b})
       on conflict (${keys}) do update set secret_encrypted = ${a}, created_at = ${b}, wrong_codes = 0, locked_until = null
         where t.confirmed_at is null returning created_at`,
    ),
    right: statement(
      `${totp}_right`,
      `update ${totp} set last_step = ${a}, confirmed_at = coalesce(confirmed_at, ${b}), wrong_codes = 0, locked_until = null
       ${where}`,
    ),
    wrong: statement(`${totp}_wrong`, `update ${totp} set wrong_codes = ${a}, locked_until = ${b} ${where}`),
    remove: statement<object>(`${totp}_remove`, `delete from ${totp} ${where} returning created_at`),
    removeCodes: statement(`${codes}_remove`, `delete from ${codes} ${where}`),
    addCodes: statement(
      `${codes}_add`,
      `insert into ${codes} (${keys}, digest) select ${given}, d from unnest(${a}::bytea[]) d`,
    ),
    useCode: statement<object>(
      `${codes}_use`,
      `update ${codes} set used_at = ${b} ${where} and digest = ${a} and used_at is null returning used_at`,
    ),
    codesLeft: statement<{ left: number }>(
      `${codes}_left`,
      `select count(*)::int as left from ${codes} ${where} and used_at is null`,
    ),
  }
}

function factorStore<Owner>(
  who: 'operator' | 'member',
  key: readonly string[],
  keyOf: (owner: Owner) => readonly string[],
): FactorStore<Owner> {
  const to = statementsOf(who, key)
  return {
    nameOf: (owner) => keyOf(owner).join(' '),
    find: async (tx, owner) => (await tx.query(to.find, [...keyOf(owner)]))[0],
    lock: async (tx, owner) => (await tx.query(to.lock, [...keyOf(owner)]))[0],
    begin: async (tx, owner, encrypted, now) =>
      (await tx.query(to.begin, [...keyOf(owner), encrypted, now])).length > 0,
    right: (tx, owner, step, now) => tx.query(to.right, [...keyOf(owner), step, now]),
    wrong: (tx, owner, wrongCodes, until) => tx.query(to.wrong, [...keyOf(owner), wrongCodes, until]),
    async setCodes(tx, owner, digests) {
      await tx.query(to.removeCodes, [...keyOf(owner)])
      await tx.query(to.addCodes, [...keyOf(owner), digests])
    },
    useCode: async (tx, owner, digest, now) =>
      (await tx.query(to.useCode, [...keyOf(owner), digest, now])).length > 0,
    codesLeft: async (tx, owner) => (await tx.query(to.codesLeft, [...keyOf(owner)]))[0]?.left ?? 0,
    async remove(tx, owner) {
      const removed = await tx.query(to.remove, [...keyOf(owner)])
      await tx.query(to.removeCodes, [...keyOf(owner)])
      return removed.length > 0
    },
  }
}

/** By the ids of operators. */
export const OPERATOR_FACTORS = factorStore<string>('operator', ['operator_id'], (operatorId) => [operatorId])

/** A member by its tenant. */
export interface MemberKey {
  readonly tenantId: string
  readonly memberId: string
}

export const MEMBER_FACTORS = factorStore<MemberKey>('member', ['tenant_id', 'member_id'], (member) => [
  member.tenantId,
  member.memberId,
])
