import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { idleMinutes } from '@svc/contract/sign-in-settings'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Actor, Caller, Services } from '@svc/server/http/operation'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import { hasSecondFactor, OPERATORS } from './audience.ts'
import { KnownSessions } from './known-sessions.ts'
import { lastActMs } from './last-act.ts'
import type { OperatorAccount } from './operator-store.ts'
import { type Permission, permits, type Role, requirePermission } from './permissions.ts'
import { type Factor, isFactorMissing, isProofStale } from './proof-age.ts'

/** `seen_at` moves this seldom, so that not every request writes. */
const SEEN_EVERY_MS = 60_000
/** What is kept of the name that a browser gives itself. */
const USER_AGENT_MAX = 256
/** Sessions of one operator; the oldest ends when there is one more. */
const SESSIONS_MAX = 10

interface SessionRow {
  operator_id: string
  name: string
  role: Role
  expires_at: Date
  authenticated_at: Date
  factors: Factor[]
  stale: boolean
  has_second_factor: boolean
}

const FIND = statement<SessionRow>(
  'operator_session_find',
  `select o.operator_id, o.name, o.role, s.expires_at, s.authenticated_at, s.factors, s.seen_at < $4 as stale,
     ${hasSecondFactor(OPERATORS, 'o')} as has_second_factor
   from operator_sessions s join operators o using (operator_id)
   where s.digest = $1 and s.expires_at > $2 and s.seen_at > $3 and o.disabled_at is null`,
)
const SEEN = statement(
  'operator_session_seen',
  'update operator_sessions set seen_at = greatest(seen_at, $2) where digest = $1',
)
const INSERT = statement(
  'operator_session_insert',
  `insert into operator_sessions
     (digest, operator_id, created_at, seen_at, authenticated_at, expires_at, factors, session_id, address, user_agent)
   values ($1, $2, $3, $3, $9, $4, $5, $6, $7, $8)`,
)
const SIGNED_IN = statement(
  'operator_signed_in',
  'update operators set last_sign_in_at = $2 where operator_id = $1',
)
const FORGET = statement(
  'operator_sessions_forget',
  `delete from operator_sessions where expires_at <= $1 or digest in (
     select digest from operator_sessions where operator_id = $2 order by created_at desc offset $3)`,
)
const RENEW = statement(
  'operator_session_renew',
  'update operator_sessions set authenticated_at = $2, factors = $3 where digest = $1',
)
const SET_FACTORS = statement(
  'operator_session_set_factors',
  'update operator_sessions set factors = $2 where digest = $1',
)
const END = statement('operator_session_end', 'delete from operator_sessions where digest = $1')

/** From where a person signs in. */
export interface SignInPlace {
  readonly address: string
  /** As the browser sent it; empty for none. */
  readonly userAgent: string
}

/** With what a person signs in, and when they proved it: now, unless it says otherwise. */
interface SignInProof {
  readonly factors: readonly Factor[]
  readonly authenticatedAt: Date | undefined
}

/** Whose session it is, and until when. */
export interface Session {
  readonly operator: Actor & { readonly role: Role }
  readonly expiresAt: Date
  /** When the person last proved who they are, and with what. */
  readonly authenticatedAt: Date
  readonly factors: readonly Factor[]
  /** Whether the operator has set one up, by now. */
  readonly hasSecondFactor: boolean
  readonly digest: Buffer
}

type SessionTools = Pick<Services, 'clock' | 'config' | 'database' | 'keyring' | 'publicUrl' | 'random'>

/** Sessions of the console (decision O2): a random value in a cookie, of which only a keyed digest is kept. */
export class Sessions {
  readonly #services: SessionTools
  readonly #known = new KnownSessions()

  constructor(services: SessionTools) {
    this.#services = services
  }

  /** Over TLS the browser itself holds the cookie to this host (RFC 6265bis section 4.1.3.2). */
  get #secure(): boolean {
    return this.#services.publicUrl().startsWith('https:')
  }

  get #cookieName(): string {
    return this.#secure ? '__Host-svc_console' : 'svc_console'
  }

  #cookie(value: string, maxAge: number): string {
    return stringifySetCookie({
      name: this.#cookieName,
      value,
      httpOnly: true,
      sameSite: 'strict',
      secure: this.#secure,
      path: this.#secure ? '/' : '/console',
      maxAge,
    })
  }

  #digest(token: string): Buffer {
    return this.#services.keyring.digest('session', `operator ${token}`)
  }

  digestOf({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Buffer | undefined {
    const { cookie } = headers
    const token = parseCookie(typeof cookie === 'string' ? cookie : '')[this.#cookieName]
    return token !== undefined && /^[A-Za-z0-9_-]{43}$/.test(token) ? this.#digest(token) : undefined
  }

  /** A new session whatever the browser had before, which ends: a session cannot be planted for another person to sign in to. */
  async begin(
    tx: Tx,
    { operatorId, name, role, hasSecondFactor }: OperatorAccount,
    previous: Buffer | undefined,
    { factors, authenticatedAt }: SignInProof,
    { address, userAgent }: SignInPlace,
  ): Promise<{ session: Session; cookie: string }> {
    const { clock, config, random } = this.#services
    const now = new Date(clock.now())
    const token = Buffer.from(random(32)).toString('base64url')
    const digest = this.#digest(token)
    const lifeMs = config.CONSOLE_SESSION_HOURS * 3_600_000
    const expiresAt = new Date(now.getTime() + lifeMs)
    // The clock of an identity provider may be ahead.
    const provedAt = authenticatedAt && authenticatedAt < now ? authenticatedAt : now
    if (previous) await tx.query(END, [previous])
    await tx.query(INSERT, [
      digest,
      operatorId,
      now,
      expiresAt,
      factors,
      newId('ses', now.getTime(), random),
      address,
      userAgent.slice(0, USER_AGENT_MAX),
      provedAt,
    ])
    this.#known.add(digest, PLATFORM_TENANT, expiresAt)
    await tx.query(SIGNED_IN, [operatorId, now])
    await tx.query(FORGET, [now, operatorId, SESSIONS_MAX])
    const operator = { actorId: operatorId, name, role }
    const session = { operator, expiresAt, authenticatedAt: provedAt, factors, hasSecondFactor, digest }
    return { session, cookie: this.#cookie(token, lifeMs / 1_000) }
  }

  /** A session has ended that expired before `now`, or was used last before `idleSince`. */
  bounds(): { readonly now: Date; readonly idleSince: Date } {
    const { clock, config } = this.#services
    const nowMs = clock.now()
    return { now: new Date(nowMs), idleSince: new Date(nowMs - idleMinutes(config) * 60_000) }
  }

  /**
   * Read from the database with every request: a session that ended, ended for every process at once. What a page asks
   * by itself does not keep it alive.
   */
  async #find(digest: Buffer, headers: Readonly<Record<string, unknown>>): Promise<Session | undefined> {
    const { now, idleSince } = this.bounds()
    const seen = lastActMs(headers, now.getTime())
    const seldom = new Date(seen - SEEN_EVERY_MS)
    return this.#services.database.operate(async (tx) => {
      const [row] = await tx.query(FIND, [digest, now, idleSince, seldom])
      if (!row) return undefined
      if (row.stale) await tx.query(SEEN, [digest, new Date(seen)])
      const { operator_id: actorId, name, role, expires_at: expiresAt, factors } = row
      const { authenticated_at: authenticatedAt, has_second_factor: hasSecondFactor } = row
      const operator = { actorId, name, role }
      return { operator, expiresAt, authenticatedAt, factors, hasSecondFactor, digest }
    })
  }

  /** The person has proved again who they are. */
  async renew(tx: Tx, { digest }: Pick<Session, 'digest'>, factors: readonly Factor[]): Promise<void> {
    await tx.query(RENEW, [digest, new Date(this.#services.clock.now()), factors])
  }

  /** The person has set up this factor. It proves nothing about who set it up, so the time of the last proof stays. */
  async addFactor(
    tx: Tx,
    { digest, factors }: Pick<Session, 'digest' | 'factors'>,
    factor: Factor,
  ): Promise<void> {
    await tx.query(SET_FACTORS, [digest, [...new Set([...factors, factor])]])
  }

  async end(tx: Tx, digest: Buffer): Promise<string> {
    this.#known.forget(digest)
    await tx.query(END, [digest])
    return this.#cookie('', 0)
  }

  /** Whether the operator has a second factor, or the role needs one, and the session has not proved it. */
  needsSecondFactor({ operator: { role }, hasSecondFactor, factors }: Session): boolean {
    const { CONSOLE_SECOND_FACTOR: needed } = this.#services.config
    return isFactorMissing(needed, { movesMoney: permits(role, 'finance'), hasSecondFactor }, factors)
  }

  /** The session of a request. Throws `not_signed_in`. */
  async current(request: { readonly headers: Readonly<Record<string, unknown>> }): Promise<Session> {
    const digest = this.digestOf(request) ?? fail('not_signed_in')
    const session = await this.#find(digest, request.headers)
    if (session) this.#known.add(digest, PLATFORM_TENANT, session.expiresAt)
    else this.#known.forget(digest)
    return session ?? fail('not_signed_in')
  }

  /** The tenant of a session that this process knows. */
  readonly whose = (request: FastifyRequest): string | undefined => {
    const digest = this.digestOf(request)
    return digest && this.#known.tenantOf(digest, this.#services.clock.now())
  }

  /** The session of a request, if its operator may do what the operation needs. */
  readonly authenticate = async (request: FastifyRequest): Promise<Caller> => {
    const session = await this.current(request)
    const { permission, stepUp, beforeSecondFactor } = request.routeOptions.config
    requirePermission(session.operator.role, permission as Permission)
    if (!beforeSecondFactor && this.needsSecondFactor(session)) fail('second_factor_needed')
    const isStale = isProofStale(this.#services, session)
    if (stepUp && isStale) fail('step_up_required')
    return { tenantId: PLATFORM_TENANT, actor: session.operator, isProofStale: isStale }
  }
}
