import { fail } from '@svc/contract/errors'
import { idleMinutes } from '@svc/contract/sign-in-settings'
import { kindOfTenant, type TenantKind } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Caller, Services } from '@svc/server/http/operation'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import { hasSecondFactor, MEMBERS } from '../identity/audience.ts'
import { KnownSessions } from '../identity/known-sessions.ts'
import { lastActMs } from '../identity/last-act.ts'
import { type Factor, isFactorMissing, isProofStale } from '../identity/proof-age.ts'
import { MEMBER_ROLES, type MemberRole } from './member-roles.ts'
import type { Member } from './member-store.ts'

/** `seen_at` moves this seldom, so that not every request writes. */
const SEEN_EVERY_MS = 60_000
const USER_AGENT_MAX = 256
/** Sessions of one member; the oldest ends when there is one more. */
const SESSIONS_MAX = 10

interface SessionRow {
  member_id: string
  name: string
  role: MemberRole
  expires_at: Date
  seen_at: Date
  authenticated_at: Date
  factors: Factor[]
  has_second_factor: boolean
}

const FIND = statement<SessionRow>(
  'member_session_find',
  `select m.member_id, m.name, m.role, s.expires_at, s.seen_at,
     coalesce(s.authenticated_at, s.created_at) as authenticated_at, s.factors,
     ${hasSecondFactor(MEMBERS, 's')} as has_second_factor
   from member_sessions s
     join members m on m.tenant_id = s.tenant_id and m.member_id = s.member_id
     join tenants t on t.tenant_id = s.tenant_id
   where s.tenant_id = $1 and s.digest = $2 and s.expires_at > $3 and s.seen_at > $4
     and m.disabled_at is null and t.disabled_at is null`,
)
const SEEN = statement(
  'member_session_seen',
  'update member_sessions set seen_at = greatest(seen_at, $3) where tenant_id = $1 and digest = $2',
)
const INSERT = statement(
  'member_session_insert',
  `insert into member_sessions 
     (tenant_id, digest, member_id, created_at, seen_at, authenticated_at, expires_at, address, user_agent, factors)
   values ($1, $2, $3, $4, $4, $4, $5, $6, $7, $8)`,
)
const SIGNED_IN = statement(
  'member_signed_in',
  'update members set last_sign_in_at = $3 where tenant_id = $1 and member_id = $2',
)
const FORGET = statement(
  'member_sessions_forget',
  `delete from member_sessions where tenant_id = $1 and (expires_at <= $2 or digest in (
     select digest from member_sessions where tenant_id = $1 and member_id = $3 order by created_at desc offset $4))`,
)
const RENEW = statement(
  'member_session_renew',
  'update member_sessions set authenticated_at = $3, factors = $4 where tenant_id = $1 and digest = $2',
)
const SET_FACTORS = statement(
  'member_session_set_factors',
  'update member_sessions set factors = $3 where tenant_id = $1 and digest = $2',
)
const END = statement(
  'member_session_end',
  'delete from member_sessions where tenant_id = $1 and digest = $2',
)

export interface MemberSession {
  readonly tenantId: string
  readonly memberId: string
  readonly name: string
  readonly role: MemberRole
  readonly expiresAt: Date
  readonly digest: Buffer
  /** When the person last proved who they are, and with what. */
  readonly authenticatedAt: Date
  readonly factors: readonly Factor[]
  /** Whether the member has set one up, by now. */
  readonly hasSecondFactor: boolean
}

type SessionKey = Pick<MemberSession, 'tenantId' | 'digest'>

interface Headers {
  readonly headers: Readonly<Record<string, unknown>>
}

type Tools = Pick<Services, 'clock' | 'config' | 'database' | 'keyring' | 'publicUrl' | 'random'>

const COOKIE = /^((?:mer|par)_[0-9a-z]{4,60})\.([A-Za-z0-9_-]{43})$/

/**
 * Sessions of the portal (decision O6). The cookie names its tenant, so that each request is a request of that tenant
 * from its first statement on; of the random value in it only a keyed digest is kept.
 */
export class MemberSessions {
  readonly #services: Tools
  readonly #known = new KnownSessions()

  constructor(services: Tools) {
    this.#services = services
  }

  get #secure(): boolean {
    return this.#services.publicUrl().startsWith('https:')
  }

  get #cookieName(): string {
    return this.#secure ? '__Host-svc_portal' : 'svc_portal'
  }

  #cookie(value: string, maxAge: number): string {
    return stringifySetCookie({
      name: this.#cookieName,
      value,
      httpOnly: true,
      sameSite: 'strict',
      secure: this.#secure,
      path: this.#secure ? '/' : '/portal',
      maxAge,
    })
  }

  #named({ headers: { cookie } }: Headers): { tenantId: string; digest: Buffer } | undefined {
    const value = parseCookie(typeof cookie === 'string' ? cookie : '')[this.#cookieName] ?? ''
    const [, tenantId, token] = COOKIE.exec(value) ?? []
    return tenantId === undefined ? undefined : { tenantId, digest: this.#digest(tenantId, token!) }
  }

  #digest(tenantId: string, token: string): Buffer {
    return this.#services.keyring.digest('session', `member ${tenantId} ${token}`)
  }

  /** A new session whatever the browser had before: one cannot be planted for another person to sign in to. */
  async begin(
    tx: Tx,
    { tenantId, memberId }: Pick<Member, 'tenantId' | 'memberId'>,
    { address, headers }: Headers & { readonly address: string },
    factors: readonly Factor[],
  ): Promise<string> {
    const { clock, config, random } = this.#services
    const now = new Date(clock.now())
    const token = Buffer.from(random(32)).toString('base64url')
    const lifeMs = config.CONSOLE_SESSION_HOURS * 3_600_000
    const agent = typeof headers['user-agent'] === 'string' ? headers['user-agent'] : ''
    const before = this.#named({ headers })
    if (before?.tenantId === tenantId) await tx.query(END, [tenantId, before.digest])
    await tx.query(INSERT, [
      tenantId,
      this.#digest(tenantId, token),
      memberId,
      now,
      new Date(now.getTime() + lifeMs),
      address,
      agent.slice(0, USER_AGENT_MAX),
      factors,
    ])
    await tx.query(SIGNED_IN, [tenantId, memberId, now])
    await tx.query(FORGET, [tenantId, now, memberId, SESSIONS_MAX])
    return this.#cookie(`${tenantId}.${token}`, lifeMs / 1_000)
  }

  /** After a sign-in: what the browser had before of another tenant, which no transaction of this tenant sees. */
  async endElsewhere(tenantId: string, request: Headers): Promise<void> {
    const before = this.#named(request)
    if (!before || before.tenantId === tenantId) return
    await this.#services.database.write([before.tenantId], (tx) =>
      tx.query(END, [before.tenantId, before.digest]),
    )
  }

  async end(tx: Tx, { tenantId, digest }: MemberSession): Promise<string> {
    this.#known.forget(digest)
    await tx.query(END, [tenantId, digest])
    return this.#cookie('', 0)
  }

  /** Sessions that have neither expired by now nor been idle since then are alive. */
  bounds(): { readonly now: Date; readonly idleSince: Date } {
    const { clock, config } = this.#services
    const nowMs = clock.now()
    return { now: new Date(nowMs), idleSince: new Date(nowMs - idleMinutes(config) * 60_000) }
  }

  /**
   * Read from the database with every request: what ended, ended for every process at once. What a page asks by itself
   * does not keep it alive. Throws `not_signed_in`.
   */
  async current(request: Headers): Promise<MemberSession> {
    const { database } = this.#services
    const named = this.#named(request) ?? fail('not_signed_in')
    const { tenantId, digest } = named
    const { now, idleSince } = this.bounds()
    const nowMs = now.getTime()
    const find = (tx: Tx) => tx.query(FIND, [tenantId, digest, now, idleSince])
    const [row] = await database.read([tenantId], find)
    if (!row) {
      this.#known.forget(digest)
      return fail('not_signed_in')
    }
    this.#known.add(digest, tenantId, row.expires_at)
    const seenMs = lastActMs(request.headers, nowMs)
    if (row.seen_at.getTime() < seenMs - SEEN_EVERY_MS)
      await database.write([tenantId], (tx) => tx.query(SEEN, [tenantId, digest, new Date(seenMs)]))
    const { member_id: memberId, name, role, expires_at: expiresAt, factors } = row
    const { authenticated_at: authenticatedAt, has_second_factor: hasSecondFactor } = row
    const who = { tenantId, memberId, name, role }
    return { ...who, expiresAt, digest, authenticatedAt, factors, hasSecondFactor }
  }

  /** The tenant of a session that this process knows. */
  readonly whose = (request: Headers): string | undefined => {
    const named = this.#named(request)
    return named && this.#known.tenantOf(named.digest, this.#services.clock.now())
  }

  /** The person has proved again who they are. */
  async renew(tx: Tx, { tenantId, digest }: SessionKey, factors: readonly Factor[]): Promise<void> {
    await tx.query(RENEW, [tenantId, digest, new Date(this.#services.clock.now()), factors])
  }

  /** The person has set up this factor. It proves nothing about who set it up, so the time of the last proof stays. */
  async addFactor(
    tx: Tx,
    { tenantId, digest, factors }: SessionKey & Pick<MemberSession, 'factors'>,
    factor: Factor,
  ): Promise<void> {
    await tx.query(SET_FACTORS, [tenantId, digest, [...new Set([...factors, factor])]])
  }

  /** Whether the member has a second factor, or the role needs one, and the session has not proved it. */
  needsSecondFactor({ role, factors, hasSecondFactor }: MemberSession): boolean {
    const { PORTAL_SECOND_FACTOR: needed } = this.#services.config
    // Viewers move no money.
    return isFactorMissing(needed, { movesMoney: role !== 'viewer', hasSecondFactor }, factors)
  }

  /** The member who calls, if the operation is for tenants of this kind and the member may do what it needs. */
  authenticator(kind?: TenantKind) {
    return async (request: FastifyRequest): Promise<Caller> => {
      const session = await this.current(request)
      const { tenantId, memberId: actorId, name, role } = session
      const { beforeSecondFactor, role: needed = 'viewer', stepUp } = request.routeOptions.config
      const least = needed as MemberRole
      if (kind !== undefined && kindOfTenant(tenantId) !== kind) fail('route_not_found')
      if (MEMBER_ROLES.indexOf(role) < MEMBER_ROLES.indexOf(least))
        fail('role_too_low', { description: `This needs the role ${least}; yours is ${role}` })
      if (!beforeSecondFactor && this.needsSecondFactor(session)) fail('second_factor_needed')
      const isStale = isProofStale(this.#services, session)
      if (stepUp && isStale) fail('step_up_required')
      return { tenantId, actor: { actorId, name, role }, member: name, isProofStale: isStale }
    }
  }
}
