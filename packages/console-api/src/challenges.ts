import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'

/** Time from the start of a sign-in to its end. */
const LIFE_MS = 600_000
/** Sign-ins that may be under way; anyone may begin one. */
const OPEN_MAX = 10_000

const FORGET = statement(
  'operator_challenges_forget',
  'delete from operator_challenges where expires_at <= $1',
)
const INSERT = statement<{ digest: Buffer }>(
  'operator_challenge_insert',
  `insert into operator_challenges (digest, purpose, operator_id, expires_at)
   select $1, $2, $3, $4 where (select count(*) from operator_challenges) < ${OPEN_MAX} returning digest`,
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

  constructor(tools: ChallengeTools) {
    this.#tools = tools
  }

  #digest(challenge: string): Buffer {
    return this.#tools.keyring.digest('session', `challenge ${challenge}`)
  }

  /** A new one, in base64url. Throws `overloaded` while too many are open. */
  async issue(tx: Tx, purpose: ChallengePurpose, operatorId: string | null = null): Promise<string> {
    const { clock, random } = this.#tools
    const now = clock.now()
    const challenge = Buffer.from(random(32)).toString('base64url')
    await tx.query(FORGET, [new Date(now)])
    const expiresAt = new Date(now + LIFE_MS)
    const [row] = await tx.query(INSERT, [this.#digest(challenge), purpose, operatorId, expiresAt])
    return row
      ? challenge
      : fail('overloaded', { description: 'Too many people are signing in', retryAfterSeconds: 60 })
  }

  /** For whom it was issued, `null` for a sign-in; `undefined` for one that was used, has expired or never was. */
  async use(tx: Tx, purpose: ChallengePurpose, challenge: string): Promise<string | null | undefined> {
    const [row] = await tx.query(USE, [this.#digest(challenge), purpose, new Date(this.#tools.clock.now())])
    return row?.operator_id
  }
}
