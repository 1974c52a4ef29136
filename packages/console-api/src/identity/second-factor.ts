import { fail } from '@svc/contract/errors'
import { base32 } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import { TOTP, Secret as TotpSecret } from 'otpauth'
import type { PersonKey } from './audience.ts'
import type { FactorStore, TotpRow } from './second-factor-store.ts'

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
 * Second factors of operators (decision O2) and of members (decision O6): one-time passwords by time (RFC 6238), and
 * recovery codes. A code works once in all processes; after five wrong ones in a row none is accepted for 15 minutes.
 */
export class SecondFactor {
  readonly #tools: Tools
  readonly #store: FactorStore

  constructor(tools: Tools, store: FactorStore) {
    this.#tools = tools
    this.#store = store
  }

  async state(tx: Tx, owner: PersonKey): Promise<SecondFactorState> {
    const row = await this.#store.find(tx, owner)
    const recoveryCodesLeft = await this.#store.codesLeft(tx, owner)
    return { confirmedAt: row?.confirmed_at ?? undefined, recoveryCodesLeft }
  }

  /** A new secret, which counts once a code confirms it. Throws `second_factor_is_on`. */
  async begin(tx: Tx, owner: PersonKey, { issuer, name }: Label): Promise<Enrollment> {
    const { clock, keyring, random } = this.#tools
    const bytes = Buffer.from(random(SECRET_BYTES))
    const encrypted = keyring.encrypt('operator_totp', bytes, nameOf(owner))
    if (!(await this.#store.begin(tx, owner, encrypted, new Date(clock.now()))))
      return fail('second_factor_is_on')
    const totp = generator(bytes, issuer, name)
    return { secret: totp.secret.base32, uri: totp.toString() }
  }

  /** Confirms the secret by its first code; returns the recovery codes. `undefined` for a wrong code. */
  async confirm(tx: Tx, owner: PersonKey, code: string): Promise<readonly string[] | undefined> {
    const row = await this.#store.lock(tx, owner)
    if (!row) return fail('second_factor_not_found')
    if (row.confirmed_at) return fail('second_factor_is_on')
    if (!(await this.#matches(tx, owner, row, code))) return undefined
    return this.renewRecoveryCodes(tx, owner)
  }

  /** New recovery codes, in clear for the last time; those of before stop working. */
  async renewRecoveryCodes(tx: Tx, owner: PersonKey): Promise<readonly string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, () => {
      const text = base32(Buffer.from(this.#tools.random(7))).slice(0, 10)
      return `${text.slice(0, 5)}-${text.slice(5)}`
    })
    await this.#store.setCodes(
      tx,
      owner,
      codes.map((code) => this.#digest(owner, code)),
    )
    return codes
  }

  /**
   * With what a code was: of the app or a recovery code. `none` where the person has no second factor, `wrong` for a
   * wrong one, which is counted: the transaction must be committed. Throws `second_factor_required` without a code and
   * `second_factor_locked` after too many wrong ones.
   */
  async check(
    tx: Tx,
    owner: PersonKey,
    code: string | undefined,
  ): Promise<'none' | 'totp' | 'recovery' | 'wrong'> {
    const row = await this.#store.lock(tx, owner)
    if (!row?.confirmed_at) return 'none'
    if (code === undefined) return fail('second_factor_required')
    const now = new Date(this.#tools.clock.now())
    if (RECOVERY_CODE.test(code)) {
      this.#requireUnlocked(row)
      const digest = this.#digest(owner, code.toLowerCase())
      if (await this.#store.useCode(tx, owner, digest, now)) return 'recovery'
      await this.#countWrong(tx, owner, row)
      return 'wrong'
    }
    return (await this.#matches(tx, owner, row, code)) ? 'totp' : 'wrong'
  }

  async #matches(tx: Tx, owner: PersonKey, row: TotpRow, code: string): Promise<boolean> {
    this.#requireUnlocked(row)
    const nowMs = this.#tools.clock.now()
    const secret = this.#tools.keyring.open('operator_totp', row.secret_encrypted, nameOf(owner))
    const step = stepOf(secret, code, nowMs)
    if (step === undefined || step <= row.last_step) {
      // Who repeats a code that was right knows the secret, or sent the same request again: nothing is guessed by it.
      if (step === undefined) await this.#countWrong(tx, owner, row)
      return false
    }
    await this.#store.right(tx, owner, step, new Date(nowMs))
    return true
  }

  #requireUnlocked({ locked_until: until }: TotpRow): void {
    const leftMs = until ? until.getTime() - this.#tools.clock.now() : 0
    if (leftMs > 0) fail('second_factor_locked', { retryAfterSeconds: Math.ceil(leftMs / 1_000) })
  }

  async #countWrong(tx: Tx, owner: PersonKey, { wrong_codes: before }: TotpRow): Promise<void> {
    const isLast = before + 1 >= WRONG_CODES_MAX
    const until = isLast ? new Date(this.#tools.clock.now() + LOCK_MS) : null
    await this.#store.wrong(tx, owner, isLast ? 0 : before + 1, until)
  }

  #digest(owner: PersonKey, code: string): Buffer {
    return this.#tools.keyring.digest('session', `recovery ${nameOf(owner)} ${code}`)
  }
}

/** The same for ever: secrets and recovery codes are bound to it. */
export const nameOf = (owner: PersonKey): string => owner.join(' ')

/** SHA-1, six digits, 30 seconds: what every authenticator app can. */
const generator = (bytes: Uint8Array, issuer: string, label: string): TOTP =>
  new TOTP({ issuer, label, secret: new TotpSecret({ buffer: Uint8Array.from(bytes).buffer }) })

/** The time step whose code this is; `undefined` where it is none around now. */
export function stepOf(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = generator(secret, '', '').validate({ token: code, timestamp: nowMs, window: WINDOW })
  return delta === null ? undefined : Math.floor(nowMs / 1_000 / PERIOD_SECONDS) + delta
}
