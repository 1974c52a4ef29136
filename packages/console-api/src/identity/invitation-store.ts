import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { type RandomBytes } from '@svc/kernel/ids'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { linkExpiresAt, SECRET } from './links.ts'
import { findOperator } from './operator-store.ts'
import { covers, onlyLooks, type Role } from './permissions.ts'
import { type AccessTools, type Administrator, requestAccess } from './second-administrator.ts'

/** Invitations that may be open at a time. */
const OPEN_MAX = 200

/** An invitation to the console (decision O2). Its link has a random token, of which only a keyed digest is stored. */
export interface Invitation {
  readonly invitationId: string
  readonly name: string
  readonly role: Role
  readonly createdAt: Date
  /** As the audit names them. */
  readonly createdBy: string
  readonly expiresAt: Date
  readonly acceptedAt: Date | null
  readonly revokedAt: Date | null
  /** Who invited; `null` when invited by the command line. */
  readonly invitedBy: string | null
  /** Role that the operator who invited has now: `null` when disabled. */
  readonly makerRole: Role | null
  /** Whose password the link replaces; `null`: it makes an operator. */
  readonly resets: string | null
  /** What a second administrator must approve, where one is needed, before the link works. */
  readonly approvalId: string | null
  /** What the second administrator said; `null`: nothing so far. */
  readonly approval: 'APPROVED' | 'REJECTED' | 'EXPIRED' | null
}

const COLUMNS = `i.invitation_id as "invitationId", i.name, i.role, i.created_at as "createdAt", i.created_by as "createdBy",
    i.expires_at as "expiresAt", i.accepted_at as "acceptedAt", i.revoked_at as "revokedAt",
    i.invited_by as "invitedBy", m.role as "makerRole", i.resets, r.approval_id as "approvalId", r.outcome as approval`
const JOINS = `left join operators m on m.operator_id = i.invited_by and m.disabled_at is null
    left join access_requests r on r.invitation_id = i.invitation_id`
/** Where invitations come from, for lists. */
export const INVITATIONS = { columns: COLUMNS, table: 'operator_invitations i', alias: 'i', joins: JOINS }
const SELECT = `select ${COLUMNS} from operator_invitations i ${JOINS}`
/** Neither accepted nor revoked. */
export const OPEN_INVITATION = 'i.accepted_at is null and i.revoked_at is null'

const BY_DIGEST = statement<Invitation>('operator_invitation_by_digest', `${SELECT} where i.digest = $1`)
const LOCK_BY_DIGEST = statement<Invitation>(
  'operator_invitation_lock',
  `${SELECT} where i.digest = $1 for no key update of i`,
)
const LOCK_OPEN = statement<Invitation>(
  'operator_invitation_lock_open',
  `${SELECT} where (i.invitation_id = $1 or i.name = $1) and ${OPEN_INVITATION} for no key update of i`,
)
const COUNT_OPEN = statement<{ count: number }>(
  'operator_invitations_count',
  `select count(*)::int as count from operator_invitations i where ${OPEN_INVITATION}`,
)
const INSERT = statement<{ invitation_id: string }>(
  'operator_invitation_insert',
  `insert into operator_invitations
     (invitation_id, name, role, digest, created_at, created_by, invited_by, expires_at, resets)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (name) where accepted_at is null and revoked_at is null do nothing returning invitation_id`,
)
const ACCEPT = statement(
  'operator_invitation_accept',
  'update operator_invitations set accepted_at = $2, operator_id = $3 where invitation_id = $1',
)
const REVOKE = statement(
  'operator_invitation_revoke',
  'update operator_invitations set revoked_at = $2 where invitation_id = $1',
)

export type InvitationState = 'open' | 'waiting' | 'accepted' | 'revoked' | 'expired'

/** An invitation ends with the rights of its maker: disabled, or demoted below the role that was offered. */
export function stateOf(
  { acceptedAt, approval, approvalId, expiresAt, invitedBy, makerRole, revokedAt, role }: Invitation,
  now: Date,
): InvitationState {
  if (acceptedAt) return 'accepted'
  if (
    revokedAt ||
    approval === 'REJECTED' ||
    (invitedBy !== null && (makerRole === null || !covers(makerRole, role)))
  )
    return 'revoked'
  if (expiresAt <= now || approval === 'EXPIRED') return 'expired'
  return approvalId !== null && approval === null ? 'waiting' : 'open'
}

const ENDED = {
  waiting: 'invitation_not_approved',
  accepted: 'invitation_used',
  revoked: 'invitation_revoked',
  expired: 'invitation_expired',
} as const

/** The invitation if it can be accepted; fails with what became of it otherwise. */
export function requireOpen(invitation: Invitation | undefined, now: Date): Invitation {
  if (!invitation) return fail('invitation_not_found')
  const state = stateOf(invitation, now)
  return state === 'open' ? invitation : fail(ENDED[state])
}

const TOKEN = new RegExp(`^${SECRET}$`)
const digestOf = (keyring: Keyring, token: string): Buffer => keyring.digest('session', `invitation ${token}`)

/** The address that an invited person opens. The token is in the fragment, which browsers send to no server. */
export const invitationLink = (publicUrl: string, token: string): string =>
  `${publicUrl}/console/invitation#${token}`

export async function findInvitation(
  tx: Tx,
  keyring: Keyring,
  token: string,
): Promise<Invitation | undefined> {
  if (!TOKEN.test(token)) return undefined
  return (await tx.query(BY_DIGEST, [digestOf(keyring, token)]))[0]
}

export interface NewInvitation {
  readonly name: string
  readonly role: Role
  readonly hours: number
  readonly token: string
  /** The inviting operator; absent on the command line without a sign-in. */
  readonly maker?: { readonly operatorId: string; readonly role: Role } | undefined
}

export interface AcceptTools {
  readonly keyring: Keyring
  readonly random: RandomBytes
  readonly now: Date
}
export type InvitationTools = AcceptTools & AccessTools

/**
 * Invites to a role, at most that of the maker. Throws `already_exists` for the name of an operator or of an open
 * invitation; an expired one is replaced.
 */
export async function insertInvitation(
  tx: Tx,
  tools: InvitationTools,
  by: Administrator,
  wanted: NewInvitation,
): Promise<Invitation> {
  const { maker, name, role } = wanted
  if (maker && !covers(maker.role, role))
    fail('role_too_low', { description: `Your role ${maker.role} cannot invite to the role ${role}` })
  if (await findOperator(tx, name))
    fail('already_exists', { description: `name: another operator is called ${name}` })
  const [previous] = await tx.query(LOCK_OPEN, [name])
  if (previous) {
    if (['open', 'waiting'].includes(stateOf(previous, tools.now)))
      fail('already_exists', {
        description: `name: ${name} is invited already; revoke that invitation first`,
      })
    await tx.query(REVOKE, [previous.invitationId, tools.now])
  }
  return insertLink(tx, tools, by, wanted, null)
}

/** A link with which an operator chooses another password; a previous one stops working. Throws `operator_not_found`. */
export async function insertPasswordLink(
  tx: Tx,
  tools: InvitationTools,
  by: Administrator,
  { idOrName, ...wanted }: Omit<NewInvitation, 'name' | 'role'> & { readonly idOrName: string },
): Promise<Invitation> {
  const operator = await findOperator(tx, idOrName)
  if (!operator || operator.disabledAt) return fail('operator_not_found')
  const { name, operatorId, role } = operator
  const [previous] = await tx.query(LOCK_OPEN, [name])
  if (previous) await tx.query(REVOKE, [previous.invitationId, tools.now])
  return insertLink(tx, tools, by, { ...wanted, name, role }, operatorId)
}

async function insertLink(
  tx: Tx,
  tools: InvitationTools,
  by: Administrator,
  { name, role, hours, token, maker }: NewInvitation,
  resets: string | null,
): Promise<Invitation> {
  const { keyring, now, random } = tools
  const [{ count } = { count: 0 }] = await tx.query(COUNT_OPEN)
  if (count >= OPEN_MAX) fail('too_many_invitations')
  const invitationId = newId('inv', now.getTime(), random)
  const expiresAt = linkExpiresAt(now, hours)
  const digest = digestOf(keyring, token)
  const [row] = await tx.query(INSERT, [
    invitationId,
    name,
    role,
    digest,
    now,
    by.actor,
    maker?.operatorId,
    expiresAt,
    resets,
  ])
  if (!row) return fail('already_exists', { description: `name: ${name} is invited already` })
  const isDecidedByTwo = resets !== null || !onlyLooks(role)
  const approvalId = isDecidedByTwo
    ? await requestAccess(tx, tools, by, { kind: 'link', operatorId: resets, invitationId })
    : undefined
  return {
    invitationId,
    name,
    role,
    createdAt: now,
    createdBy: by.actor,
    expiresAt,
    acceptedAt: null,
    revokedAt: null,
    invitedBy: maker?.operatorId ?? null,
    makerRole: maker?.role ?? null,
    resets,
    approvalId: approvalId ?? null,
    approval: null,
  }
}

/** Locks the invitation of a link, so that it is accepted once. */
export async function lockByToken(tx: Tx, keyring: Keyring, token: string): Promise<Invitation | undefined> {
  return (await tx.query(LOCK_BY_DIGEST, [digestOf(keyring, token)]))[0]
}

/** The same for one that is neither accepted nor revoked, by its id or name. */
export async function lockOpen(tx: Tx, idOrName: string): Promise<Invitation | undefined> {
  return (await tx.query(LOCK_OPEN, [idOrName]))[0]
}

export const markAccepted = (tx: Tx, { invitationId }: Invitation, operatorId: string, now: Date) =>
  tx.query(ACCEPT, [invitationId, now, operatorId])

/** By id or by name; `undefined` when there is no such open invitation. */
export async function revokeInvitationOf(
  tx: Tx,
  idOrName: string,
  now: Date,
): Promise<Invitation | undefined> {
  const open = await lockOpen(tx, idOrName)
  if (!open) return undefined
  await tx.query(REVOKE, [open.invitationId, now])
  return { ...open, revokedAt: now }
}
