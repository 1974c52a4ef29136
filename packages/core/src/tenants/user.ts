import { newId } from '@svc/contract/id-kinds'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { type RandomBytes } from '@svc/kernel/ids'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Tx, Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { generated, instant, nullable, type RowOf, table, text } from '@svc/platform/db/table'

/** Holders of cards: employees of a company of a partner. */
export const users = table('users', 'u', ['partnerId', 'userId'], {
  userId: text,
  partnerId: text,
  companyId: text,
  email: nullable(text),
  mobile: nullable(text),
  title: nullable(text),
  firstName: nullable(text),
  middleName: nullable(text),
  lastName: nullable(text),
  gender: nullable(text),
  specialDate: nullable(text),
  taxPan: nullable(text),
  createdAt: instant,
  /** Since then nothing is known of the person (decision C23). */
  erasedAt: generated(nullable(instant)),
})
export type User = RowOf<typeof users>

/** What is known of a user, under the names of requests; absent means not known. */
export interface Profile {
  readonly email?: string
  readonly mobile?: string
  readonly title?: string
  readonly firstName?: string
  readonly middleName?: string
  readonly lastName?: string
  readonly gender?: string
  readonly specialDate?: string
  /** The user's tax number; never a card's (decision C16). */
  readonly pan?: string
}

export interface NewUser extends Pick<User, 'userId' | 'partnerId' | 'companyId' | 'createdAt'> {
  readonly profile: Profile
}

export const newUser = ({ userId, partnerId, companyId, profile, createdAt }: NewUser): User => ({
  userId,
  partnerId,
  companyId,
  email: profile.email ?? null,
  mobile: profile.mobile ?? null,
  title: profile.title ?? null,
  firstName: profile.firstName ?? null,
  middleName: profile.middleName ?? null,
  lastName: profile.lastName ?? null,
  gender: profile.gender ?? null,
  specialDate: profile.specialDate ?? null,
  taxPan: profile.pan ?? null,
  createdAt,
  erasedAt: null,
})

/** Puts users under a new partner, in its transaction. Everybody else runs `createUser`. */
export const insertUsers = (tx: Writes, created: readonly Omit<NewUser, 'createdAt'>[]): void =>
  users.insert(
    tx,
    created.map((user) => newUser({ ...user, createdAt: new Date() })),
  )

const PROFILE = [
  'email',
  'mobile',
  'title',
  'firstName',
  'middleName',
  'lastName',
  'gender',
  'specialDate',
] as const

/** The fields of a user that are known. */
export const profileOf = (user: User): Profile => ({
  ...Object.fromEntries(PROFILE.flatMap((name) => (user[name] === null ? [] : [[name, user[name]]]))),
  ...(user.taxPan !== null && { pan: user.taxPan }),
})

export const newUserId = (nowMs: number, random: RandomBytes): string => newId('usr', nowMs, random)

interface UserKey {
  readonly tenantId: string
  readonly userId: string
}

const COMPANIES_OF = statement<UserKey & Pick<User, 'companyId'>>(
  'users_companies',
  `select partner_id as "tenantId", user_id as "userId", company_id as "companyId" from users
   where (partner_id, user_id) in (select * from unnest($1::text[], $2::text[])) and erased_at is null`,
)
const tenantOf = ({ tenantId }: UserKey) => tenantId
const userOf = ({ userId }: UserKey) => userId

/** The company of each user that exists and is not erased, by partner and user. */
export async function findUsers(tx: Tx, wanted: readonly UserKey[]): Promise<ByTenant<Map<string, string>>> {
  const rows = await tx.query(COMPANIES_OF, columns(wanted, tenantOf, userOf))
  return byTenant(rows, tenantOf, userOf, ({ companyId }) => companyId)
}

const LOCK = users.lock('to_award')

/** Keeps users from being erased until the end of the transaction: for what becomes theirs in it. */
export const lockUsers = (tx: BatchTx, wanted: readonly UserKey[]) =>
  users.lockRows<User>(
    tx,
    LOCK,
    wanted.map(({ tenantId, userId }) => ({ partnerId: tenantId, userId })),
  )

/** Companies that exist, and the company of each user that exists and is not erased, of one partner. */
export interface Membership {
  readonly companies: Set<string>
  readonly users: Map<string, string>
}

type MembershipKey = UserKey & Pick<User, 'companyId'>
const companyOf = ({ companyId }: MembershipKey) => companyId

const MEMBERSHIP = statement<Omit<MembershipKey, 'userId'> & { readonly userId: string | null }>(
  'users_and_companies',
  `select partner_id as "tenantId", null as "userId", company_id as "companyId" from companies
   where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))
   union all
   select partner_id, user_id, company_id from users
   where (partner_id, user_id) in (select * from unnest($1::text[], $3::text[])) and erased_at is null`,
)

/** Both of what a command names, by partner. */
export async function findMembership(
  tx: Tx,
  wanted: readonly MembershipKey[],
): Promise<ByTenant<Membership>> {
  const rows = await tx.query(MEMBERSHIP, columns(wanted, tenantOf, companyOf, userOf))
  const found = new ByTenant((): Membership => ({ companies: new Set(), users: new Map() }))
  for (const { tenantId, userId, companyId } of rows)
    if (userId === null) found.of(tenantId).companies.add(companyId)
    else found.of(tenantId).users.set(userId, companyId)
  return found
}
