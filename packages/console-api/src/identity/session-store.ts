import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  type Audience,
  hasSecondFactor,
  MEMBERS,
  OPERATORS,
  type PersonKey,
  tenantKeys,
  whereKeys,
} from './audience.ts'
import type { Factor } from './proof-age.ts'

/** Sessions of one person; the oldest ends when there is one more. */
const SESSIONS_MAX = 10

export interface SessionRow {
  readonly person_id: string
  readonly name: string
  readonly role: string
  readonly expires_at: Date
  readonly seen_at: Date
  readonly authenticated_at: Date
  readonly factors: Factor[]
  readonly has_second_factor: boolean
}

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

/** A session with the id of its person. */
export interface AnySession extends OwnSession {
  readonly personId: string
}

/** Of all people at most so many are read, the last used. */
export const ALL_MAX = 500

/** A session that begins. */
export interface NewSession {
  readonly digest: Buffer
  readonly now: Date
  readonly authenticatedAt: Date
  readonly expiresAt: Date
  readonly factors: readonly Factor[]
  readonly address: string
  readonly userAgent: string
}

/** A session has ended that expired before `now`, or was used last before `idleSince`. */
export interface SessionBounds {
  readonly now: Date
  readonly idleSince: Date
}

/** What names a session to its person and opens nothing: a part of the keyed digest. */
const SESSION_ID = `encode(substr(digest, 1, 12), 'hex')`

/** What statements begin with: a person's have the person's keys first, those of one session the tenant, if any. */
function partsOf({ who, keys }: Audience) {
  const table = `${who}_sessions`
  const tenant = tenantKeys({ who, keys })
  const after = (count: number) => Array.from({ length: 7 }, (_, n) => `$${count + n + 1}`)
  const ofTenant = (alias = '') => (tenant.length > 0 ? `${whereKeys(tenant, alias)} and ` : '')
  return {
    table,
    isOfTenant: tenant.length > 0,
    /** The parameters after a person's keys, and after the tenant. */
    afterPerson: after(keys.length),
    afterTenant: after(tenant.length),
    person: whereKeys(keys),
    ofTenant,
    one: `${ofTenant()}digest = $${tenant.length + 1}`,
  }
}

/** The statements of sessions as they begin, serve and end. */
function statementsOf(audience: Audience) {
  const { who, keys } = audience
  const { table, isOfTenant, afterPerson, afterTenant, person, ofTenant, one } = partsOf(audience)
  const [a, b, c, d, e, f, g] = afterPerson
  const [x, y, z] = afterTenant
  return {
    find: statement<SessionRow>(
      `${who}_session_find`,
      `select p.${keys.at(-1)} as person_id, p.name, p.role, s.expires_at, s.seen_at, s.authenticated_at, s.factors,
         ${hasSecondFactor(audience, 'p')} as has_second_factor
       from ${table} s join ${who}s p on ${keys.map((key) => `p.${key} = s.${key}`).join(' and ')}
       where ${ofTenant('s.')}s.digest = ${x} and s.expires_at > ${y} and s.seen_at > ${z} and p.disabled_at is null
         ${isOfTenant ? 'and exists (select from tenants t where t.tenant_id = s.tenant_id and t.disabled_at is null)' : ''}`,
    ),
    seen: statement(
      `${who}_session_seen`,
      `update ${table} set seen_at = greatest(seen_at, ${y}) where ${one}`,
    ),
    insert: statement(
      `${who}_session_insert`,
      `insert into ${table} (${keys.join(', ')}, digest, created_at, seen_at, authenticated_at, expires_at, factors, address,
         user_agent) values (${keys.map((_, n) => `$${n + 1}`).join(', ')}, ${a}, ${b}, ${b}, ${c}, ${d}, ${e}, ${f}, ${g})`,
    ),
    signedIn: statement(`${who}_signed_in`, `update ${who}s set last_sign_in_at = ${a} where ${person}`),
    forget: statement(
      `${table}_forget`,
      `delete from ${table} where ${ofTenant()}(expires_at <= ${a} or digest in (
         select digest from ${table} where ${person} order by created_at desc offset ${SESSIONS_MAX}))`,
    ),
    renew: statement(
      `${who}_session_renew`,
      `update ${table} set authenticated_at = ${y}, factors = ${z} where ${one}`,
    ),
    setFactors: statement(`${who}_session_set_factors`, `update ${table} set factors = ${y} where ${one}`),
    end: statement(`${who}_session_end`, `delete from ${table} where ${one}`),
  }
}

/** The statements of sessions as people see them. */
function shownOf(audience: Audience) {
  const { who, keys } = audience
  const { table, afterPerson, afterTenant, person, ofTenant } = partsOf(audience)
  const [a, b, c] = afterPerson
  const [x, y, z] = afterTenant
  const open = (
    current: string | undefined,
  ) => `select ${SESSION_ID} as "sessionId", digest = ${current} as "isCurrent",
     address, user_agent as "userAgent", factors, created_at as "createdAt", seen_at as "seenAt", expires_at as "expiresAt",
     ${keys.at(-1)} as "personId"
   from ${table} where`
  const latest = 'order by seen_at desc, digest desc'
  return {
    list: statement<OwnSession>(
      `${table}_list`,
      `${open(a)} ${person} and expires_at > ${b} and seen_at > ${c} ${latest}`,
    ),
    listAll: statement<AnySession>(
      `${table}_list_all`,
      `${open(x)} ${ofTenant()}expires_at > ${y} and seen_at > ${z} ${latest} limit ${ALL_MAX}`,
    ),
    endAny: statement<{ personId: string }>(
      `${table}_end_any`,
      `delete from ${table} where ${ofTenant()}${SESSION_ID} = ${x} returning ${keys.at(-1)} as "personId"`,
    ),
    endOne: statement<object>(
      `${who}_own_session_end`,
      `delete from ${table} where ${person} and ${SESSION_ID} = ${a} returning address`,
    ),
    endOthers: statement<object>(
      `${table}_end`,
      `delete from ${table} where ${person} and (${a}::bytea is null or digest <> ${a}) returning address`,
    ),
  }
}

/** The sessions of the people of one audience. One session is named by its tenant, if any, and its digest. */
export class SessionStore {
  readonly audience: Audience
  readonly #to: ReturnType<typeof statementsOf> & ReturnType<typeof shownOf>

  constructor(audience: Audience) {
    this.audience = audience
    this.#to = { ...statementsOf(audience), ...shownOf(audience) }
  }

  /** `undefined` for one that has ended, or whose person or tenant is disabled. */
  readonly find = async (
    tx: Tx,
    one: readonly unknown[],
    { now, idleSince }: SessionBounds,
  ): Promise<SessionRow | undefined> => (await tx.query(this.#to.find, [...one, now, idleSince]))[0]

  readonly seen = (tx: Tx, one: readonly unknown[], at: Date): Promise<unknown> =>
    tx.query(this.#to.seen, [...one, at])

  /** Inserts it, and forgets those that have expired and the oldest of the person's. */
  async begin(tx: Tx, owner: PersonKey, session: NewSession): Promise<void> {
    const { digest, now, authenticatedAt, expiresAt, factors, address, userAgent } = session
    const row = [digest, now, authenticatedAt, expiresAt, factors, address, userAgent]
    await tx.query(this.#to.insert, [...owner, ...row])
    await tx.query(this.#to.signedIn, [...owner, now])
    await tx.query(this.#to.forget, [...owner, now])
  }

  readonly renew = (
    tx: Tx,
    one: readonly unknown[],
    at: Date,
    factors: readonly Factor[],
  ): Promise<unknown> => tx.query(this.#to.renew, [...one, at, factors])

  readonly setFactors = (tx: Tx, one: readonly unknown[], factors: readonly Factor[]): Promise<unknown> =>
    tx.query(this.#to.setFactors, [...one, factors])

  readonly end = (tx: Tx, one: readonly unknown[]): Promise<unknown> => tx.query(this.#to.end, [...one])

  /** Those that have neither expired nor been idle for too long, the last used first. */
  readonly list = (
    tx: Tx,
    owner: PersonKey,
    current: Uint8Array,
    { now, idleSince }: SessionBounds,
  ): Promise<OwnSession[]> => tx.query(this.#to.list, [...owner, current, now, idleSince])

  /** The same of all people, of a tenant if they are of one. */
  readonly listAll = (
    tx: Tx,
    tenant: readonly string[],
    current: Uint8Array,
    { now, idleSince }: SessionBounds,
  ): Promise<AnySession[]> => tx.query(this.#to.listAll, [...tenant, current, now, idleSince])

  /** Ends a session of any of them. The id of its person; `undefined` where there is none. */
  readonly endAny = async (
    tx: Tx,
    tenant: readonly string[],
    sessionId: string,
  ): Promise<string | undefined> => (await tx.query(this.#to.endAny, [...tenant, sessionId]))[0]?.personId

  /** False when the person has no such session. */
  readonly endOne = async (tx: Tx, owner: PersonKey, sessionId: string): Promise<boolean> =>
    (await tx.query(this.#to.endOne, [...owner, sessionId])).length > 0

  /** Ends all but the one with this digest, if one is kept. Returns how many. */
  readonly endOthers = async (tx: Tx, owner: PersonKey, keep?: Uint8Array): Promise<number> =>
    (await tx.query(this.#to.endOthers, [...owner, keep])).length
}

export const OPERATOR_SESSIONS = new SessionStore(OPERATORS)
export const MEMBER_SESSIONS = new SessionStore(MEMBERS)
