import { fail } from '@svc/contract/errors'
import { idleMinutes } from '@svc/contract/sign-in-settings'
import { isTenantId, PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import { type PersonKey, tenantKeys } from './audience.ts'
import { KnownSessions } from './known-sessions.ts'
import { lastActMs } from './last-act.ts'
import { type Factor, isFactorMissing, isProofStale } from './proof-age.ts'
import type { SessionBounds, SessionStore } from './session-store.ts'

/** `seen_at` moves this seldom, so that not every request writes. */
const SEEN_EVERY_MS = 60_000
/** What is kept of the name that a browser gives itself. */
const USER_AGENT_MAX = 256
const TOKEN = /^[A-Za-z0-9_-]{43}$/

interface Headers {
  readonly headers: Readonly<Record<string, unknown>>
}

/** What names a session: its tenant, and a digest of what is in the cookie. */
interface SessionKey {
  readonly tenantId: string
  readonly digest: Buffer
}

/** Whose session it is, and until when. */
export interface Session<R extends string = string> extends SessionKey {
  readonly personId: string
  readonly name: string
  readonly role: R
  readonly expiresAt: Date
  /** When the person last proved who they are, and with what. */
  readonly authenticatedAt: Date
  readonly factors: readonly Factor[]
  /** Whether the person has set one up, by now. */
  readonly hasSecondFactor: boolean
}

/** With what a person signs in, and when they proved it: now, unless it says otherwise. */
export interface SignInProof {
  readonly factors: readonly Factor[]
  readonly authenticatedAt?: Date | undefined
}

/** What distinguishes the sessions of the console from those of the portal. */
export interface SessionKind<R extends string> {
  readonly at: 'console' | 'portal'
  readonly store: SessionStore
  readonly secondFactor: 'CONSOLE_SECOND_FACTOR' | 'PORTAL_SECOND_FACTOR'
  movesMoney(role: R): boolean
  /** Transactions of a tenant, or of operators, which see every tenant. */
  readonly read: <T>(tenantId: string, work: (tx: Tx) => Promise<T>) => Promise<T>
  readonly write: <T>(tenantId: string, work: (tx: Tx) => Promise<T>) => Promise<T>
}

type Tools = Pick<Services, 'clock' | 'config' | 'keyring' | 'publicUrl' | 'random'>

/**
 * Sessions of people (decisions O2, O6): a random value in a cookie, of which only a keyed digest is kept. The cookie of a
 * member names the tenant, so that each request is a request of that tenant from its first statement on.
 */
export class Sessions<R extends string> {
  readonly #tools: Tools
  readonly #kind: SessionKind<R>
  readonly #known = new KnownSessions()

  constructor(tools: Tools, kind: SessionKind<R>) {
    this.#tools = tools
    this.#kind = kind
  }

  /** Over TLS the browser itself holds the cookie to this host (RFC 6265bis section 4.1.3.2). */
  get #secure(): boolean {
    return this.#tools.publicUrl().startsWith('https:')
  }

  get #cookieName(): string {
    return `${this.#secure ? '__Host-' : ''}svc_${this.#kind.at}`
  }

  #cookie(value: string, maxAge: number): string {
    return stringifySetCookie({
      name: this.#cookieName,
      value,
      httpOnly: true,
      sameSite: 'strict',
      secure: this.#secure,
      path: this.#secure ? '/' : `/${this.#kind.at}`,
      maxAge,
    })
  }

  #digest(tenant: readonly string[], token: string): Buffer {
    const { who } = this.#kind.store.audience
    return this.#tools.keyring.digest('session', [who, ...tenant, token].join(' '))
  }

  #named({ headers: { cookie } }: Headers): SessionKey | undefined {
    const value = parseCookie(typeof cookie === 'string' ? cookie : '')[this.#cookieName] ?? ''
    const tenant = value.split('.')
    const token = tenant.pop()!
    const isWhole = tenant.length === tenantKeys(this.#kind.store.audience).length
    if (!isWhole || !TOKEN.test(token) || !tenant.every(isTenantId)) return undefined
    return { tenantId: tenant[0] ?? PLATFORM_TENANT, digest: this.#digest(tenant, token) }
  }

  /** As the tables of the audience name a session. */
  #keyOf({ tenantId, digest }: SessionKey): readonly unknown[] {
    return tenantKeys(this.#kind.store.audience).length > 0 ? [tenantId, digest] : [digest]
  }

  /**
   * A new session whatever the browser had before, which ends: a session cannot be planted for another person to sign in
   * to. Returns its cookie.
   */
  async begin(
    tx: Tx,
    owner: PersonKey,
    { address, headers }: Headers & { readonly address: string },
    { factors, authenticatedAt }: SignInProof,
  ): Promise<string> {
    const { clock, config, random } = this.#tools
    const now = new Date(clock.now())
    const token = Buffer.from(random(32)).toString('base64url')
    const tenant = owner.slice(0, -1)
    const lifeMs = config.CONSOLE_SESSION_HOURS * 3_600_000
    const before = this.#named({ headers })
    if (before && before.tenantId === (tenant[0] ?? PLATFORM_TENANT))
      await this.#kind.store.end(tx, this.#keyOf(before))
    const agent = typeof headers['user-agent'] === 'string' ? headers['user-agent'] : ''
    await this.#kind.store.begin(tx, owner, {
      digest: this.#digest(tenant, token),
      now,
      // The clock of an identity provider may be ahead.
      authenticatedAt: authenticatedAt && authenticatedAt < now ? authenticatedAt : now,
      expiresAt: new Date(now.getTime() + lifeMs),
      factors,
      address,
      userAgent: agent.slice(0, USER_AGENT_MAX),
    })
    return this.#cookie([...tenant, token].join('.'), lifeMs / 1_000)
  }

  /** After a sign-in: what the browser had before of another tenant, which no transaction of this tenant sees. */
  async endElsewhere(tenantId: string, request: Headers): Promise<void> {
    const before = this.#named(request)
    if (before && before.tenantId !== tenantId)
      await this.#kind.write(before.tenantId, (tx) => this.#kind.store.end(tx, this.#keyOf(before)))
  }

  /** Returns the cookie that takes the place of the session's. */
  async end(tx: Tx, session: SessionKey): Promise<string> {
    this.#known.forget(session.digest)
    await this.#kind.store.end(tx, this.#keyOf(session))
    return this.#cookie('', 0)
  }

  bounds(): SessionBounds {
    const { clock, config } = this.#tools
    const nowMs = clock.now()
    return { now: new Date(nowMs), idleSince: new Date(nowMs - idleMinutes(config) * 60_000) }
  }

  /**
   * The session of a request, read from the database each time: one that ended, ended for every process at once. What a
   * page asks by itself does not keep it alive. Throws `not_signed_in`.
   */
  async current(request: Headers): Promise<Session<R>> {
    const { read, store, write } = this.#kind
    const named = this.#named(request) ?? fail('not_signed_in')
    const [one, bounds] = [this.#keyOf(named), this.bounds()]
    const row = await read(named.tenantId, (tx) => store.find(tx, one, bounds))
    if (!row) {
      this.#known.forget(named.digest)
      return fail('not_signed_in')
    }
    this.#known.add(named.digest, named.tenantId, row.expires_at)
    const seenMs = lastActMs(request.headers, bounds.now.getTime())
    if (row.seen_at.getTime() < seenMs - SEEN_EVERY_MS)
      await write(named.tenantId, (tx) => store.seen(tx, one, new Date(seenMs)))
    const { name, factors, person_id: personId, expires_at: expiresAt } = row
    const { authenticated_at: authenticatedAt, has_second_factor: hasSecondFactor } = row
    const who = { ...named, personId, name, role: row.role as R }
    return { ...who, expiresAt, authenticatedAt, factors, hasSecondFactor }
  }

  /** The tenant of a session that this process knows. */
  readonly whose = (request: Headers): string | undefined => {
    const named = this.#named(request)
    return named && this.#known.tenantOf(named.digest, this.#tools.clock.now())
  }

  /** The person has proved again who they are. */
  readonly renew = (tx: Tx, session: SessionKey, factors: readonly Factor[]): Promise<unknown> =>
    this.#kind.store.renew(tx, this.#keyOf(session), new Date(this.#tools.clock.now()), factors)

  /** The person has set up this factor. It proves nothing about who set it up, so the time of the last proof stays. */
  readonly addFactor = (
    tx: Tx,
    session: SessionKey & Pick<Session, 'factors'>,
    factor: Factor,
  ): Promise<unknown> =>
    this.#kind.store.setFactors(tx, this.#keyOf(session), [...new Set([...session.factors, factor])])

  /** Whether the person has a second factor, or the role needs one, and the session has not proved it. */
  needsSecondFactor({ role, hasSecondFactor, factors }: Session<R>): boolean {
    const movesMoney = this.#kind.movesMoney(role)
    const needed = this.#tools.config[this.#kind.secondFactor]
    return isFactorMissing(needed, { movesMoney, hasSecondFactor }, factors)
  }

  /**
   * The session of a request whose person `may` do what its operation needs, with the proof that it needs, and whether the
   * proof is old. Throws what `may` throws, `second_factor_needed` and `step_up_required`.
   */
  async admitted(
    request: FastifyRequest,
    may: (session: Session<R>) => void,
  ): Promise<{ readonly session: Session<R>; readonly isProofStale: boolean }> {
    const session = await this.current(request)
    const { stepUp, beforeSecondFactor } = request.routeOptions.config
    may(session)
    if (!beforeSecondFactor && this.needsSecondFactor(session)) fail('second_factor_needed')
    const isStale = isProofStale(this.#tools, session)
    if (stepUp && isStale) fail('step_up_required')
    return { session, isProofStale: isStale }
  }
}
