import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'
import { type Audience, MEMBERS, OPERATORS, type PersonKey, tenantKeys } from './audience.ts'

/** Time from the start of a sign-in to its end. */
const LIFE_MS = 600_000
/** So many may be open. Anyone may begin a sign-in: beyond it the oldest give way, so that no flood shuts people out. */
const OPEN_MAX = 50_000

/** The statements of one audience; of a tenant's, its id is the first parameter. */
function statementsOf(audience: Audience) {
  const { who, keys } = audience
  const table = `${who}_challenges`
  const tenant = tenantKeys(audience)
  const where = [...tenant.map((key, n) => `${key} = $${n + 1}`), ''].join(' and ')
  const [a, b, c, d] = Array.from({ length: 4 }, (_, n) => `$${tenant.length + n + 1}`)
  const person = keys.at(-1)
  return {
    forget: statement(`${table}_forget`, `delete from ${table} where ${where}expires_at <= ${a}`),
    forgetOldest: statement(
      `${table}_forget_oldest`,
      `delete from ${table} where ${where}digest = any (array(
         select digest from ${table} where ${where}true order by expires_at desc offset ${a}))`,
    ),
    insert: statement(
      `${who}_challenge_insert`,
      `insert into ${table} (${[...keys, 'digest', 'purpose', 'expires_at'].join(', ')})
       values (${keys.map((_, n) => `$${n + 1}`).join(', ')}, ${b}, ${c}, ${d})`,
    ),
    use: statement<object>(
      `${who}_challenge_use`,
      `delete from ${table} where ${where}${person} is not distinct from ${a} and digest = ${b} and purpose = ${c}
         and expires_at > ${d} returning digest`,
    ),
  }
}
const STATEMENTS = { operator: statementsOf(OPERATORS), member: statementsOf(MEMBERS) }

export type ChallengePurpose = 'oidc' | 'passkey_sign_in' | 'passkey_registration'

interface Bound {
  /** Who registers a passkey; without one it is for a sign-in. */
  readonly owner?: PersonKey | undefined
  /** A value that only the browser has that asks: it works nowhere else. */
  readonly browser?: string
}

type ChallengeTools = Pick<Services, 'clock' | 'keyring' | 'random'>

/** Random values of 256 bits that a browser presents once, at most ten minutes later, to any process. */
export class Challenges {
  readonly #tools: ChallengeTools
  readonly #audience: Audience
  readonly #to: ReturnType<typeof statementsOf>
  readonly #openMax: number

  constructor(tools: ChallengeTools, audience: Audience, openMax = OPEN_MAX) {
    this.#tools = tools
    this.#audience = audience
    this.#to = STATEMENTS[audience.who]
    this.#openMax = openMax
  }

  #digest(challenge: string, browser: string): Buffer {
    return this.#tools.keyring.digest('session', `challenge ${challenge} ${browser}`)
  }

  /** Before the person is known, a sign-in is of the platform. */
  #keyOf(owner: PersonKey | undefined): readonly (string | null)[] {
    return owner ?? [...tenantKeys(this.#audience).map(() => PLATFORM_TENANT), null]
  }

  /** A new one, in base64url. */
  async issue(tx: Tx, purpose: ChallengePurpose, { owner, browser = '' }: Bound = {}): Promise<string> {
    const { clock, random } = this.#tools
    const now = clock.now()
    const challenge = Buffer.from(random(32)).toString('base64url')
    const key = this.#keyOf(owner)
    const tenant = key.slice(0, -1)
    await tx.query(this.#to.forget, [...tenant, new Date(now)])
    await tx.query(this.#to.forgetOldest, [...tenant, this.#openMax])
    const expiresAt = new Date(now + LIFE_MS)
    await tx.query(this.#to.insert, [...key, this.#digest(challenge, browser), purpose, expiresAt])
    return challenge
  }

  /** Uses it up. False for one that was used, has expired, or never was for this person and browser. */
  async use(
    tx: Tx,
    purpose: ChallengePurpose,
    challenge: string,
    { owner, browser = '' }: Bound = {},
  ): Promise<boolean> {
    const now = new Date(this.#tools.clock.now())
    const given = [...this.#keyOf(owner), this.#digest(challenge, browser), purpose, now]
    return (await tx.query(this.#to.use, given)).length > 0
  }
}
