import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Audience, MEMBERS, OPERATORS, type PersonKey } from './audience.ts'

export interface TotpRow {
  readonly secret_encrypted: Buffer
  readonly confirmed_at: Date | null
  /** `float8`: periods since 1970. */
  readonly last_step: number
  readonly wrong_codes: number
  readonly locked_until: Date | null
}

/** The statements of one pair of tables, whose keys begin with these columns. */
function statementsOf({ who, keys: key }: Audience) {
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

/** Where the second factors of one audience are. */
export class FactorStore {
  readonly #to: ReturnType<typeof statementsOf>

  constructor(audience: Audience) {
    this.#to = statementsOf(audience)
  }

  readonly find = async (tx: Tx, owner: PersonKey): Promise<TotpRow | undefined> =>
    (await tx.query(this.#to.find, [...owner]))[0]

  readonly lock = async (tx: Tx, owner: PersonKey): Promise<TotpRow | undefined> =>
    (await tx.query(this.#to.lock, [...owner]))[0]

  /** A secret that does not count yet. False where one counts. */
  readonly begin = async (tx: Tx, owner: PersonKey, encrypted: Buffer, now: Date): Promise<boolean> =>
    (await tx.query(this.#to.begin, [...owner, encrypted, now])).length > 0

  readonly right = (tx: Tx, owner: PersonKey, step: number, now: Date): Promise<unknown> =>
    tx.query(this.#to.right, [...owner, step, now])

  readonly wrong = (tx: Tx, owner: PersonKey, wrongCodes: number, until: Date | null): Promise<unknown> =>
    tx.query(this.#to.wrong, [...owner, wrongCodes, until])

  /** Instead of those of before. */
  async setCodes(tx: Tx, owner: PersonKey, digests: readonly Buffer[]): Promise<void> {
    await tx.query(this.#to.removeCodes, [...owner])
    await tx.query(this.#to.addCodes, [...owner, digests])
  }

  readonly useCode = async (tx: Tx, owner: PersonKey, digest: Buffer, now: Date): Promise<boolean> =>
    (await tx.query(this.#to.useCode, [...owner, digest, now])).length > 0

  readonly codesLeft = async (tx: Tx, owner: PersonKey): Promise<number> =>
    (await tx.query(this.#to.codesLeft, [...owner]))[0]?.left ?? 0

  /** Removes it with its recovery codes. False where there was none. */
  async remove(tx: Tx, owner: PersonKey): Promise<boolean> {
    const removed = await tx.query(this.#to.remove, [...owner])
    await tx.query(this.#to.removeCodes, [...owner])
    return removed.length > 0
  }
}

export const OPERATOR_FACTORS = new FactorStore(OPERATORS)
export const MEMBER_FACTORS = new FactorStore(MEMBERS)
