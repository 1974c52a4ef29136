import { fail } from '@svc/contract/errors'
import { base32 } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'
import { TOTP, Secret as TotpSecret } from 'otpauth'

const PERIOD_SECONDS = 30
/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20
/** Codes of the period before and after count too, for clocks that differ. */
const WINDOW = 1
const WRONG_CODES_MAX = 5
const LOCK_MS = 900_000
export const RECOVERY_CODES = 10

/** Crockford base 32, 50 bits. */
const RECOVERY_CODE = /^[0-9a-z]{5}-[0-9a-z]{5}$/i

interface TotpRow {
  secret_encrypted: Buffer
  confirmed_at: Date | null
  /** `float8`: periods since 1970. */
  last_step: number
  wrong_codes: number
  locked_until: Date | null
}

const SELECT = `select secret_encrypted, confirmed_at, last_step::float8 as last_step, wrong_codes, locked_until
  from operator_totp where operator_id = $1`
const FIND = statement<TotpRow>('operator_totp_find', SELECT)
const LOCK = statement<TotpRow>('operator_totp_lock', `${SELECT} for no key update`)
const BEGIN = statement<{ operator_id: string }>(
  'operator_totp_begin',
  `insert into operator_totp as t (operator_id, secret_encrypted, created_at) values ($1, $2, $3)
   on conflict (operator_id) do update set secret_encrypted = $2, created_at = $3, wrong_codes = 0, locked_until = null
     where t.confirmed_at is null returning operator_id`,
)
const RIGHT = statement(
  'operator_totp_right',
  `update operator_totp set last_step = $2, confirmed_at = coalesce(confirmed_at, $3), wrong_codes = 0, locked_until = null
   where operator_id = $1`,
)
const WRONG = statement(
  'operator_totp_wrong',
  'update operator_totp set wrong_codes = $2, locked_until = $3 where operator_id = $1',
)
const REMOVE = statement<{ operator_id: string }>(
  'operator_totp_remove',
  'delete from operator_totp where operator_id = $1 returning operator_id',
)
const REMOVE_CODES = statement(
  'operator_recovery_codes_remove',
  'delete from operator_recovery_codes where operator_id = $1',
)
const ADD_CODES = statement(
  'operator_recovery_codes_add',
  'insert into operator_recovery_codes (operator_id, digest) select * from unnest($1::text[], $2::bytea[])',
)
const USE_CODE = statement<{ operator_id: string }>(
  'operator_recovery_code_use',
  `update operator_recovery_codes set used_at = $3 where operator_id = $1 and digest = $2 and used_at is null
   returning operator_id`,
)
const CODES_LEFT = statement<{ left: number }>(
  'operator_recovery_codes_left',
  'select count(*)::int as left from operator_recovery_codes where operator_id = $1 and used_at is null',
)

/** What an authenticator app is given. */
export interface Enrollment {
  /** Base32, to be typed where nothing can be scanned. */
  readonly secret: string
  /** `otpauth:` URI, for a QR code. */
  readonly uri: string
}

/** How an app lists it. */
interface Label {
  readonly issuer: string
  readonly name: string
}

export interface SecondFactorState {
  readonly confirmedAt: Date | undefined
  readonly recoveryCodesLeft: number
}

type Tools = Pick<Services, 'clock' | 'keyring' | 'random'>

/**
 * Second factors of operators (decision O2): one-time passwords by time (RFC 6238), and recovery codes. A code works
 * once in all processes; after five wrong ones in a row none is accepted for 15 minutes.
 */
export class SecondFactor {
  readonly #tools: Tools

  constructor(tools: Tools) {
    this.#tools = tools
  }

  async state(tx: Tx, operatorId: string): Promise<SecondFactorState> {
    const [row] = await tx.query(FIND, [operatorId])
    const [codes] = await tx.query(CODES_LEFT, [operatorId])
    return { confirmedAt: row?.confirmed_at ?? undefined, recoveryCodesLeft: codes?.left ?? 0 }
  }

  /** A new secret, which counts once a code confirms it. Throws `second_factor_is_on`. */
  async begin(tx: Tx, operatorId: string, { issuer, name }: Label): Promise<Enrollment> {
    const { clock, keyring, random } = this.#tools
    const bytes = Buffer.from(random(SECRET_BYTES))
    const encrypted = keyring.encrypt('operator_totp', bytes, operatorId)
    const [begun] = await tx.query(BEGIN, [operatorId, encrypted, new Date(clock.now())])
    if (!begun) return fail('second_factor_is_on')
    const totp = generator(bytes, issuer, name)
    return { secret: totp.secret.base32, uri: totp.toString() }
  }

  /** Confirms the secret by its first code; returns the recovery codes. `undefined` for a wrong code. */
  async confirm(tx: Tx, operatorId: string, code: string): Promise<readonly string[] | undefined> {
    const [row] = await tx.query(LOCK, [operatorId])
    if (!row) return fail('second_factor_not_found')
    if (row.confirmed_at) return fail('second_factor_is_on')
    if (!(await this.#matches(tx, operatorId, row, code))) return undefined
    return this.renewRecoveryCodes(tx, operatorId)
  }

  /** New recovery codes, in clear for the last time; those of before stop working. */
  async renewRecoveryCodes(tx: Tx, operatorId: string): Promise<readonly string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, () => {
      const text = base32(Buffer.from(this.#tools.random(7))).slice(0, 10)
      return `${text.slice(0, 5)}-${text.slice(5)}`
    })
    await tx.query(REMOVE_CODES, [operatorId])
    const rows = columns(
      codes,
      () => operatorId,
      (code) => this.#digest(operatorId, code),
    )
    await tx.query(ADD_CODES, rows)
    return codes
  }

  /**
   * With what a code was: of the app or a recovery code. `none` where the operator has no second factor, `wrong` for a
   * wrong one, which is counted: the transaction must be committed. Throws `second_factor_required` without a code and
   * `second_factor_locked` after too many wrong ones.
   */
  async check(
    tx: Tx,
    operatorId: string,
    code: string | undefined,
  ): Promise<'none' | 'totp' | 'recovery' | 'wrong'> {
    const [row] = await tx.query(LOCK, [operatorId])
    if (!row?.confirmed_at) return 'none'
    if (code === undefined) return fail('second_factor_required')
    const now = new Date(this.#tools.clock.now())
    if (RECOVERY_CODE.test(code)) {
      this.#requireUnlocked(row)
      const digest = this.#digest(operatorId, code.toLowerCase())
      const [used] = await tx.query(USE_CODE, [operatorId, digest, now])
      if (used) return 'recovery'
      await this.#countWrong(tx, operatorId, row)
      return 'wrong'
    }
    return (await this.#matches(tx, operatorId, row, code)) ? 'totp' : 'wrong'
  }

  async #matches(tx: Tx, operatorId: string, row: TotpRow, code: string): Promise<boolean> {
    this.#requireUnlocked(row)
    const nowMs = this.#tools.clock.now()
    const secret = this.#tools.keyring.open('operator_totp', row.secret_encrypted, operatorId)
    const step = stepOf(secret, code, nowMs)
    if (step === undefined || step <= row.last_step) {
      await this.#countWrong(tx, operatorId, row)
      return false
    }
    await tx.query(RIGHT, [operatorId, step, new Date(nowMs)])
    return true
  }

  #requireUnlocked({ locked_until: until }: TotpRow): void {
    const leftMs = until ? until.getTime() - this.#tools.clock.now() : 0
    if (leftMs > 0) fail('second_factor_locked', { retryAfterSeconds: Math.ceil(leftMs / 1_000) })
  }

  async #countWrong(tx: Tx, operatorId: string, { wrong_codes: before }: TotpRow): Promise<void> {
    const isLast = before + 1 >= WRONG_CODES_MAX
    const until = isLast ? new Date(this.#tools.clock.now() + LOCK_MS) : null
    await tx.query(WRONG, [operatorId, isLast ? 0 : before + 1, until])
  }

  #digest(operatorId: string, code: string): Buffer {
    return this.#tools.keyring.digest('session', `recovery ${operatorId} ${code}`)
  }
}

/** Removes it with its recovery codes. False where there was none. */
export async function removeSecondFactor(tx: Tx, operatorId: string): Promise<boolean> {
  const [removed] = await tx.query(REMOVE, [operatorId])
  await tx.query(REMOVE_CODES, [operatorId])
  return removed !== undefined
}

/** SHA-1, six digits, 30 seconds: what every authenticator app can. */
const generator = (bytes: Uint8Array, issuer: string, label: string): TOTP =>
  new TOTP({ issuer, label, secret: new TotpSecret({ buffer: Uint8Array.from(bytes).buffer }) })

/** The time step whose code this is; `undefined` where it is none around now. */
export function stepOf(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = generator(secret, '', '').validate({ token: code, timestamp: nowMs, window: WINDOW })
  return delta === null ? undefined : Math.floor(nowMs / 1_000 / PERIOD_SECONDS) + delta
}
