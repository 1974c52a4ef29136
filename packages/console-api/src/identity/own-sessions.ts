import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Factor } from './proof-age.ts'
import type { Session } from './sessions.ts'

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

export interface OwnSessionRow {
  session_id: string
  is_current: boolean
  address: string
  user_agent: string
  factors: Factor[]
  created_at: Date
  seen_at: Date
  expires_at: Date
}

const LIST = statement<OwnSessionRow>(
  'operator_sessions_list',
  `select session_id, digest = $2 as is_current, address, user_agent, factors, created_at, seen_at, expires_at
   from operator_sessions where operator_id = $1 and expires_at > $3 and seen_at > $4
   order by seen_at desc, session_id desc`,
)
const END_ONE = statement<{ session_id: string }>(
  'operator_own_session_end',
  'delete from operator_sessions where operator_id = $1 and session_id = $2 returning session_id',
)
const END_OTHERS = statement<{ session_id: string }>(
  'operator_own_sessions_end',
  'delete from operator_sessions where operator_id = $1 and digest <> $2 returning session_id',
)

/** Sessions of the operator of this one that have neither expired nor been idle for too long, the last used first. */
export async function listOwnSessions(
  tx: Tx,
  { operator, digest }: Session,
  { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
): Promise<OwnSession[]> {
  const rows = await tx.query(LIST, [operator.actorId, digest, now, idleSince])
  return rows.map(toOwnSession)
}

export const toOwnSession = (row: OwnSessionRow): OwnSession => ({
  sessionId: row.session_id,
  isCurrent: row.is_current,
  address: row.address,
  userAgent: row.user_agent,
  factors: row.factors,
  createdAt: row.created_at,
  seenAt: row.seen_at,
  expiresAt: row.expires_at,
})

/** Ends a session of this operator. False when the operator has no such session. */
export const endOwnSession = async (tx: Tx, operatorId: string, sessionId: string): Promise<boolean> =>
  (await tx.query(END_ONE, [operatorId, sessionId])).length > 0

/** Ends all sessions of this operator but the one with this digest. Returns how many. */
export const endOwnSessions = async (tx: Tx, operatorId: string, keep: Uint8Array): Promise<number> =>
  (await tx.query(END_OTHERS, [operatorId, keep])).length
