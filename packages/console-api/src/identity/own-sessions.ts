import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Audience, MEMBERS, OPERATORS, type PersonKey, whereKeys } from './audience.ts'
import type { Factor } from './proof-age.ts'

/** A session as its person sees it. */
export interface OwnSession {
  readonly sessionId: string
  readonly isCurrent: boolean
  /** From which the person signed in. */
  readonly address: string
  /** As the browser sent it, cut to 256 characters; empty for none. */
  readonly userAgent: string
  readonly factors: readonly Factor[]
  readonly createdAt: Date
  readonly seenAt: Date
  readonly expiresAt: Date
}

/** What names a session to its person and opens nothing: an id, or a part of the keyed digest. */
const SESSION_ID = { operator: 'session_id', member: `encode(substr(digest, 1, 12), 'hex')` }

function statementsOf({ who, keys }: Audience) {
  const [table, where] = [`${who}_sessions`, whereKeys(keys)]
  const [a, b, c] = Array.from({ length: 3 }, (_, n) => `$${keys.length + n + 1}`)
  return {
    list: statement<OwnSession>(
      `${table}_list`,
      `select ${SESSION_ID[who]} as "sessionId", digest = ${a} as "isCurrent", address, user_agent as "userAgent", factors,
         created_at as "createdAt", seen_at as "seenAt", expires_at as "expiresAt"
       from ${table} where ${where} and expires_at > ${b} and seen_at > ${c} order by seen_at desc, digest desc`,
    ),
    endOne: statement<object>(
      `${who}_own_session_end`,
      `delete from ${table} where ${where} and ${SESSION_ID[who]} = ${a} returning address`,
    ),
    endOthers: statement<object>(
      `${who}_own_sessions_end`,
      `delete from ${table} where ${where} and digest <> ${a} returning address`,
    ),
  }
}

/** The sessions of the people of one audience. */
export class OwnSessions {
  readonly #to: ReturnType<typeof statementsOf>

  constructor(audience: Audience) {
    this.#to = statementsOf(audience)
  }

  /** Those that have neither expired nor been idle for too long, the last used first. */
  readonly list = (
    tx: Tx,
    owner: PersonKey,
    current: Uint8Array,
    { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
  ): Promise<OwnSession[]> => tx.query(this.#to.list, [...owner, current, now, idleSince])

  /** False when the person has no such session. */
  readonly end = async (tx: Tx, owner: PersonKey, sessionId: string): Promise<boolean> =>
    (await tx.query(this.#to.endOne, [...owner, sessionId])).length > 0

  /** Ends all but the one with this digest. Returns how many. */
  readonly endOthers = async (tx: Tx, owner: PersonKey, keep: Uint8Array): Promise<number> =>
    (await tx.query(this.#to.endOthers, [...owner, keep])).length
}

export const OPERATOR_SESSIONS = new OwnSessions(OPERATORS)
export const MEMBER_SESSIONS = new OwnSessions(MEMBERS)
