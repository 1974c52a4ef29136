import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'

/** Time from the start of a sign-in to its end. */
const LIFE_MS = 600_000
/** So many may be open. Anyone may begin a sign-in: beyond it the oldest give way, so that no flood shuts people out. */
const OPEN_MAX = 50_000

const FORGET = statement(
  'operator_challenges_forget',
  'delete from operator_challenges where expires_at <= $1',
)
const FORGET_OLDEST = statement(
  'operator_challenges_forget_oldest',
  'delete from operator_challenges where digest = any (array(select digest from operator_challenges order by expires_at desc offset $1))',
)
const INSERT = statement(
  'operator_challenge_insert',
  'insert into operator_challenges (digest, purpose, operator_id, expires_at) values ($1, $2, $3, $4)',
)
const USE = statement<{ operator_id: string | null }>(
  'operator_challenge_use',
  `delete from operator_challenges where digest = $1 and purpose = $2 and expires_at > $3 returning operator_id`,
)

export type ChallengePurpose = 'oidc' | 'passkey_sign_in' | 'passkey_registration'

type ChallengeTools = Pick<Services, 'clock' | 'keyring' | 'random'>

/** Random values of 256 bits that a browser presents once, at most ten minutes later, to any process. */
export class Challenges {
  readonly #tools: ChallengeTools
  readonly #openMax: number

  constructor(tools: ChallengeTools, openMax = OPEN_MAX) {
    this.#tools = tools
    this.#openMax = openMax
  }

  #digest(challenge: string, browser: string): Buffer {
    return this.#tools.keyring.digest('session', `challenge ${challenge} ${browser}`)
  }

  /** A new one, in base64url. With `browser`, a value that only the browser has that asks, it works nowhere else. */
  async issue(
    tx: Tx,
    purpose: ChallengePurpose,
    {
      operatorId = null,
      browser = '',
    }: { readonly operatorId?: string | null; readonly browser?: string } = {},
  ): Promise<string> {
    const { clock, random } = this.#tools
    const now = clock.now()
    const challenge = Buffer.from(random(32)).toString('base64url')
    await tx.query(FORGET, [new Date(now)])
    const expiresAt = new Date(now + LIFE_MS)
    await tx.query(FORGET_OLDEST, [this.#openMax])
    await tx.query(INSERT, [this.#digest(challenge, browser), purpose, operatorId, expiresAt])
    return challenge
  }

  /** For whom it was issued, `null` for a sign-in; `undefined` for one that was used, has expired, or never was for this browser. */
  async use(
    tx: Tx,
    purpose: ChallengePurpose,
    challenge: string,
    browser = '',
  ): Promise<string | null | undefined> {
    const now = new Date(this.#tools.clock.now())
    const [row] = await tx.query(USE, [this.#digest(challenge, browser), purpose, now])
    return row?.operator_id
  }
}
