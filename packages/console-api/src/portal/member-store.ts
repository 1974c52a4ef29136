import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { announce } from '@svc/core/tenants/tenant-events'
import type { RandomBytes } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { hasSecondFactor, MEMBERS } from '../identity/audience.ts'
import { linkExpiresAt, newSecret, SECRET } from '../identity/links.ts'
import { MEMBER_PASSKEYS } from '../identity/passkey-store.ts'
import { MEMBER_FACTORS } from '../identity/second-factor-store.ts'
import { MEMBER_SESSIONS } from '../identity/session-store.ts'
import type { MemberRole } from './member-roles.ts'

const MEMBERS_MAX = 500

/** A person of a tenant, who uses the portal (decision O6). */
export interface Member {
  readonly tenantId: string
  readonly memberId: string
  readonly name: string
  readonly role: MemberRole
  readonly createdAt: Date
  /** As the audit names them. */
  readonly createdBy: string
  readonly disabledAt: Date | null
  readonly lastSignInAt: Date | null
  readonly linkExpiresAt: Date | null
  /** Whether the link waits for a second administrator. */
  readonly linkWaits: boolean
  /** Whether the person has chosen a password. */
  readonly hasPassword: boolean
  /** A passkey or an authenticator app: a password alone is not enough. */
  readonly hasSecondFactor: boolean
}

export const MEMBER_COLUMNS = `m.tenant_id as "tenantId", m.member_id as "memberId", m.name, m.role, m.created_at as "createdAt",
  m.created_by as "createdBy", m.disabled_at as "disabledAt", m.last_sign_in_at as "lastSignInAt",
  m.link_expires_at as "linkExpiresAt", m.link_digest is not distinct from m.waiting_link and m.link_digest is not null as "linkWaits",
  m.password_hash is not null as "hasPassword",
  ${hasSecondFactor(MEMBERS, 'm')} as "hasSecondFactor"`

const LOCK = statement<Member>(
  'member_lock',
  `select ${MEMBER_COLUMNS} from members m where m.tenant_id = $1 and (m.member_id = $2 or m.name = $2) for no key update`,
)
const OF_LINK = statement<Member>(
  'member_of_link',
  `select ${MEMBER_COLUMNS} from members m where m.tenant_id = $1 and m.link_digest = $2 and link_holds(m.tenant_id, m.link_by)
     and exists (select from tenants t where t.tenant_id = m.tenant_id and t.disabled_at is null)`,
)
const LOCK_OF_LINK = statement<Member>('member_lock_of_link', `${OF_LINK.text} for no key update`)
const COUNT = statement<{ count: number }>(
  'members_count',
  'select count(*)::int as count from members where tenant_id = $1',
)
const INSERT = statement<Member>(
  'member_insert',
  `insert into members as m (tenant_id, member_id, name, role, created_at, created_by, link_digest, link_expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (tenant_id, name) do nothing returning ${MEMBER_COLUMNS}`,
)
const CHANGE = statement<Member>(
  'member_change',
  `update members m set role = coalesce($3, role),
     disabled_at = case when $4::boolean is null then disabled_at when $4 then coalesce(disabled_at, clock_timestamp()) end,
     link_digest = case when $4 then null else link_digest end,
     link_expires_at = case when $4 then null else link_expires_at end
   where m.tenant_id = $1 and m.member_id = $2 returning ${MEMBER_COLUMNS}`,
)
const RENEW_LINK = statement<Member>(
  'member_renew_link',
  `update members m set link_digest = $3, link_expires_at = $4
   where m.tenant_id = $1 and m.member_id = $2 returning ${MEMBER_COLUMNS}`,
)
const SET_PASSWORD = statement(
  'member_set_password',
  `update members set password_hash = $3, link_digest = null, link_expires_at = null
   where tenant_id = $1 and member_id = $2`,
)
const PASSWORD_OF = statement<{ password_hash: string | null }>(
  'member_password',
  'select password_hash from members where tenant_id = $1 and member_id = $2 and disabled_at is null',
)
const WAIT = statement(
  'member_link_wait',
  'update members set waiting_link = link_digest where tenant_id = $1 and member_id = $2',
)
const APPROVE = statement(
  'member_link_approve',
  'update members set waiting_link = null where tenant_id = $1 and member_id = $2',
)
const REFUSE = statement(
  'member_link_refuse',
  `update members set waiting_link = null, link_digest = null, link_expires_at = null
   where tenant_id = $1 and member_id = $2 and link_digest = waiting_link`,
)
export const MEMBER_NAME_RULE =
  'must be 2 to 64 small letters, digits and . _ @ + -, such as an e-mail address'
export const MEMBER_NAME_PATTERN = '^[a-z0-9][a-z0-9._@+-]{1,63}$'

/** `invited` until the first sign-in. */
export const memberStatus = ({
  disabledAt,
  hasPassword,
  lastSignInAt,
}: Member): 'active' | 'disabled' | 'invited' =>
  disabledAt ? 'disabled' : hasPassword || lastSignInAt ? 'active' : 'invited'

export interface LinkTools {
  readonly keyring: Keyring
  readonly random: RandomBytes
  readonly now: Date
}

/** What a link names: the tenant, and 256 random bits that are guessed by none. */
interface Link {
  readonly tenantId: string
  readonly secret: string
}

const LINK = new RegExp(`^((?:mer|par)_[0-9a-z]{4,60})\\.(${SECRET})$`)
const readLink = (token: string): Link | undefined => {
  const [, tenantId, secret] = LINK.exec(token) ?? []
  return tenantId !== undefined && secret !== undefined ? { tenantId, secret } : undefined
}
/** Whose member opens this link; `undefined` for what is no link. */
export const tenantOfLink = (token: string): string | undefined => readLink(token)?.tenantId

const digestOf = (keyring: Keyring, { tenantId, secret }: Link): Buffer =>
  keyring.digest('session', `member link ${tenantId} ${secret}`)

/** The address that the person opens. The token is in the fragment, which browsers send to no server. */
const linkOf = (publicUrl: string, { tenantId, secret }: Link): string =>
  `${publicUrl}/portal/link#${tenantId}.${secret}`

interface FreshLink {
  readonly digest: Buffer
  readonly expiresAt: Date
  readonly address: string
}

function newLink(
  { keyring, random, now }: LinkTools,
  tenantId: string,
  hours: number,
  publicUrl: string,
): FreshLink {
  const link = { tenantId, secret: newSecret(random) }
  return {
    digest: digestOf(keyring, link),
    expiresAt: linkExpiresAt(now, hours),
    address: linkOf(publicUrl, link),
  }
}

/** By id or name, locked. */
export const findMember = async (tx: Tx, tenantId: string, who: string): Promise<Member | undefined> =>
  (await tx.query(LOCK, [tenantId, who]))[0]

export interface NewMember {
  readonly tenantId: string
  readonly name: string
  readonly role: MemberRole
  readonly hours: number
  readonly createdBy: string
  readonly publicUrl: string
}

/** A member with the link that was just made. */
export interface LinkedMember {
  readonly member: Member
  readonly link: string
}

/** Invites a person. The link is returned here and never again. Throws `already_exists` for a name that is taken. */
export async function inviteMember(
  tx: Tx,
  tools: LinkTools,
  { tenantId, name, role, hours, createdBy, publicUrl }: NewMember,
): Promise<LinkedMember> {
  const [{ count } = { count: 0 }] = await tx.query(COUNT, [tenantId])
  if (count >= MEMBERS_MAX) fail('too_many_members')
  const memberId = newId('mem', tools.now.getTime(), tools.random)
  const { digest, expiresAt, address } = newLink(tools, tenantId, hours, publicUrl)
  const row = [tenantId, memberId, name, role, tools.now, createdBy, digest, expiresAt]
  const [member] = await tx.query(INSERT, row)
  if (!member) return fail('already_exists', { description: `name: ${name} is a member already` })
  announce(tx, tenantId, 'member.invited', memberId, { memberId, name, role })
  return { member, link: address }
}

const ENTER = statement<Member>(
  'member_enter_sandbox',
  `with entered as (
     insert into members (tenant_id, member_id, name, role, created_at, created_by)
     values ($1, $2, 'sandbox', 'admin', $3, 'sandbox') on conflict (tenant_id, name) do nothing returning *)
   select ${MEMBER_COLUMNS} from entered m
   union all
   select ${MEMBER_COLUMNS} from members m where m.tenant_id = $1 and m.name = 'sandbox'`,
)

// What another click entered at the same instant, the statement above passes over and does not see.
const ENTERED = statement<Member>(
  'member_of_sandbox',
  `select ${MEMBER_COLUMNS} from members m where m.tenant_id = $1 and m.name = 'sandbox'`,
)

/** The member of the sandbox's click, who has no password. */
export async function enterSandbox(
  tx: Tx,
  { random, now }: Pick<LinkTools, 'random' | 'now'>,
  tenantId: string,
): Promise<Member> {
  const memberId = newId('mem', now.getTime(), random)
  const entered = await tx.query(ENTER, [tenantId, memberId, now])
  const [member] = entered.length > 0 ? entered : await tx.query(ENTERED, [tenantId])
  return required(member, 'the member is there or was entered')
}

/** Another link, for who lost the first one or the password; the link before stops working. `undefined` for none such. */
export async function renewLink(
  tx: Tx,
  tools: LinkTools,
  { tenantId, who, hours, publicUrl }: { tenantId: string; who: string; hours: number; publicUrl: string },
): Promise<LinkedMember | undefined> {
  const [found] = await tx.query(LOCK, [tenantId, who])
  if (!found) return undefined
  if (found.disabledAt) fail('member_disabled')
  const { digest, expiresAt, address } = newLink(tools, tenantId, hours, publicUrl)
  const [member] = await tx.query(RENEW_LINK, [tenantId, found.memberId, digest, expiresAt])
  return { member: member!, link: address }
}

export interface MemberChange {
  readonly role?: MemberRole | undefined
  readonly disabled?: boolean | undefined
}

/** By id or name. Sessions end, so that nothing goes on with the rights of before. `undefined` for none such. */
export async function changeMember(
  tx: Tx,
  tenantId: string,
  who: string,
  { role, disabled }: MemberChange,
): Promise<Member | undefined> {
  const [found] = await tx.query(LOCK, [tenantId, who])
  if (!found) return undefined
  const [member] = await tx.query(CHANGE, [tenantId, found.memberId, role, disabled])
  await MEMBER_SESSIONS.endOthers(tx, [tenantId, found.memberId])
  return member
}

/** For one who has lost the device, by id or name: the app and all passkeys. Sessions end. `undefined` for none such. */
export async function resetMemberFactor(
  tx: Tx,
  tenantId: string,
  who: string,
): Promise<{ member: Member; removed: boolean } | undefined> {
  const [member] = await tx.query(LOCK, [tenantId, who])
  if (!member) return undefined
  const key = [tenantId, member.memberId]
  const hadApp = await MEMBER_FACTORS.remove(tx, key)
  const removed = (await MEMBER_PASSKEYS.removeAll(tx, key)) > 0 || hadApp
  await MEMBER_SESSIONS.endOthers(tx, key)
  const { memberId, name, role } = member
  if (removed) announce(tx, tenantId, 'member.factor_reset', memberId, { memberId, name, role })
  return { member: { ...member, hasSecondFactor: false }, removed }
}

/**
 * The member whom a link invites; fails with what became of the link otherwise. While the tenant is disabled the link
 * is not used up: the session could not begin, and credentials that it issues would be lost.
 */
export async function memberOfLink(
  tx: Tx,
  { keyring, now }: LinkTools,
  token: string,
  lock = false,
): Promise<Member> {
  const link = readLink(token)
  if (!link) return fail('invitation_not_found')
  const [member] = await tx.query(lock ? LOCK_OF_LINK : OF_LINK, [link.tenantId, digestOf(keyring, link)])
  if (!member || member.disabledAt) return fail('invitation_not_found')
  if (member.linkExpiresAt! <= now) fail('invitation_expired')
  return member.linkWaits ? fail('invitation_not_approved') : member
}

export type MemberKey = Pick<Member, 'tenantId' | 'memberId'>

/** The link that the member has opens once it is approved. */
export const waitWithLink = (tx: Tx, { tenantId, memberId }: MemberKey): Promise<unknown> =>
  tx.query(WAIT, [tenantId, memberId])

export const approveLink = (tx: Tx, { tenantId, memberId }: MemberKey): Promise<unknown> =>
  tx.query(APPROVE, [tenantId, memberId])

/** A link that the tenant itself has made meanwhile stays. */
export const refuseLink = (tx: Tx, { tenantId, memberId }: MemberKey): Promise<unknown> =>
  tx.query(REFUSE, [tenantId, memberId])

/** Uses up the member's link and ends all sessions but the one that is kept. */
export async function setMemberPassword(
  tx: Tx,
  { tenantId, memberId }: MemberKey,
  passwordHash: string,
  keep?: Uint8Array,
): Promise<void> {
  await tx.query(SET_PASSWORD, [tenantId, memberId, passwordHash])
  await MEMBER_SESSIONS.endOthers(tx, [tenantId, memberId], keep)
}

export const passwordOfMember = async (tx: Tx, tenantId: string, memberId: string): Promise<string | null> =>
  (await tx.query(PASSWORD_OF, [tenantId, memberId]))[0]?.password_hash ?? null
