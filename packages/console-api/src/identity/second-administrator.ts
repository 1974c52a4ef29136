import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { MemberRole } from '../portal/member-roles.ts'
import type { Role } from './permissions.ts'

const BY_TWO = statement<{ by_two: boolean }>(
  'administrators_by_two',
  'select administrators_by_two as by_two from approval_limit',
)
const STORE_BY_TWO = statement(
  'administrators_by_two_store',
  'update approval_limit set administrators_by_two = true where not administrators_by_two',
)
const EXPIRE = statement(
  'access_requests_expire',
  `update access_requests set outcome = 'EXPIRED', decided_by = 'svc', decided_at = $1 where outcome is null and expires_at <= $1`,
)
const SUPERSEDE = statement(
  'access_request_of_link_supersede',
  `update access_requests set outcome = 'EXPIRED', decided_by = 'svc', decided_at = $3
   where outcome is null and kind = 'member_link' and member_tenant = $1 and member_id = $2`,
)
const INSERT = statement<{ approval_id: string }>(
  'access_request_insert',
  `insert into access_requests
     (approval_id, kind, operator_id, invitation_id, role, requested_by, requested_at, expires_at, member_tenant, member_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing returning approval_id`,
)

/** Of members of tenants: with a link, more rights or without a second factor another person could act as the tenant. */
export const MEMBER_ACCESS = ['member_second_factor', 'member_link', 'member_role', 'member_enable'] as const
export type MemberAccess = (typeof MEMBER_ACCESS)[number]
/** What a second administrator decides: a link, a role, the return of an operator, a way to sign in that is removed. */
export type AccessKind = 'link' | 'role' | 'enable' | MemberAccess | AccessReset
/** Ways to sign in that are removed. */
export type AccessReset = 'passkeys' | 'second_factor' | 'identity'

/**
 * Whether changes of who may act need a second administrator: in live mode, and on a database that a process in live mode
 * worked on, whatever the mode of this one.
 */
export async function needsTwoAdministrators(
  tx: Tx,
  { SVC_MODE }: Pick<Config, 'SVC_MODE'>,
): Promise<boolean> {
  const [stored] = await tx.query(BY_TWO)
  if (stored?.by_two) return true
  if (SVC_MODE !== 'live') return false
  await tx.query(STORE_BY_TWO)
  return true
}

/** Who changes who may act. */
export interface Administrator {
  /** As the audit names them. */
  readonly actor: string
  /** Whether the change happens without a second administrator: with the login of the database's owner. */
  readonly alone?: boolean
}

export interface AccessTools {
  readonly config: Pick<Config, 'SVC_MODE' | 'APPROVAL_HOURS'>
  readonly random: RandomBytes
  readonly now: Date
}

interface Wanted {
  readonly kind: AccessKind
  readonly operatorId: string | null
  readonly invitationId?: string
  readonly role?: Role | MemberRole
  /** Of a member of a tenant. */
  readonly member?: { readonly tenantId: string; readonly memberId: string }
}

/** Enters the request for a second administrator, where one is needed. Throws `approval_open` for a second request of the same. */
export async function requestAccess(
  tx: Tx,
  { config, random, now }: AccessTools,
  { actor, alone = false }: Administrator,
  { kind, member, operatorId, invitationId, role }: Wanted,
): Promise<string | undefined> {
  if (alone || !(await needsTwoAdministrators(tx, config))) return undefined
  await tx.query(EXPIRE, [now])
  // Another link stops the one before it.
  if (kind === 'member_link' && member) await tx.query(SUPERSEDE, [member.tenantId, member.memberId, now])
  const approvalId = newId('apv', now.getTime(), random)
  const expiresAt = new Date(now.getTime() + config.APPROVAL_HOURS * 3_600_000)
  const of = [member?.tenantId, member?.memberId]
  const entry = [approvalId, kind, operatorId, invitationId, role, actor, now, expiresAt, ...of]
  const [entered] = await tx.query(INSERT, entry)
  return entered
    ? approvalId
    : fail('approval_open', { description: 'This change waits for a second administrator already' })
}
