import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { requireStill, secondPersonProblem } from '@svc/core/ledger/second-person'
import { required } from '@svc/kernel/invariant'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Caller, Services } from '@svc/server/http/operation'
import { actorOf } from '../as-operator.ts'
import { maybe } from '../console-schema.ts'
import { MEMBER_ROLES, type MemberRole } from '../portal/member-roles.ts'
import {
  approveLink,
  changeMember,
  findMember,
  type Member,
  type MemberChange,
  refuseLink,
  resetMemberFactor,
  waitWithLink,
} from '../portal/member-store.ts'
import { unlinkIdentity } from './identity-store.ts'
import { findOperator, type OperatorAccount, updateOperator } from './operator-store.ts'
import { OPERATOR_PASSKEYS } from './passkey-store.ts'
import { covers, onlyLooks, type Role } from './permissions.ts'
import {
  type AccessKind,
  type AccessReset,
  type AccessTools,
  type Administrator,
  MEMBER_ACCESS,
  type MemberAccess,
  requestAccess,
} from './second-administrator.ts'
import { OPERATOR_FACTORS } from './second-factor-store.ts'
import { OPERATOR_SESSIONS } from './session-store.ts'

/** What gives an operator more rights, or another person the means to act as that operator (decision R10). */
export type AccessWanted =
  | { readonly kind: 'role'; readonly role: Role }
  | { readonly kind: 'enable' | AccessReset }
export type AccessChange = AccessWanted & { readonly operatorId: string }

/** A change that waits for a second administrator, or did. */
export interface AccessRequest {
  readonly approvalId: string
  readonly kind: AccessKind
  readonly name: string
  readonly role: Role | MemberRole | null
  readonly requestedBy: string
  readonly requestedAt: Date
  readonly expiresAt: Date
  readonly outcome: 'APPROVED' | 'REJECTED' | 'EXPIRED' | null
}

interface RequestRow {
  approval_id: string
  kind: AccessKind
  operator_id: string | null
  tenant_id: string | null
  member_id: string | null
  name: string
  role: Role | MemberRole | null
  requested_by: string
  requested_at: Date
  expires_at: Date
  revoked_at: Date | null
  outcome: AccessRequest['outcome']
}

const SELECT = `select r.approval_id, r.kind, r.operator_id, r.member_tenant as tenant_id, r.member_id, coalesce(i.name, o.name, m.name) as name, coalesce(r.role, i.role) as role,
    r.requested_by, r.requested_at, r.expires_at, r.outcome, i.revoked_at
  from access_requests r left join operator_invitations i on i.invitation_id = r.invitation_id
    left join operators o on o.operator_id = r.operator_id
    left join members m on m.tenant_id = r.member_tenant and m.member_id = r.member_id`

/** So many are listed. */
export const ACCESS_REQUESTS_MAX = 200

const LOCK = statement<RequestRow>(
  'access_request_lock',
  `${SELECT} where r.approval_id = $1 for no key update of r`,
)
const LIST = statement<RequestRow>(
  'access_requests_list',
  `${SELECT} where r.outcome is null and r.expires_at > $1 and i.revoked_at is null order by r.requested_at desc, r.approval_id desc limit ${ACCESS_REQUESTS_MAX}`,
)
const DECIDE = statement(
  'access_request_decide',
  'update access_requests set outcome = $2, decided_by = $3, decided_at = $4 where approval_id = $1',
)

const toRequest = (row: RequestRow): AccessRequest => ({
  approvalId: row.approval_id,
  kind: row.kind,
  name: row.name,
  role: row.role,
  requestedBy: row.requested_by,
  requestedAt: row.requested_at,
  expiresAt: row.expires_at,
  outcome: row.outcome,
})

export interface ChangedAccess {
  readonly operator: OperatorAccount
  /** It waits for a second administrator. */
  readonly approvalId?: string | undefined
  /** How many passkeys, or whether a factor or a link, there were. */
  readonly removed: number
}

/** Changes who may act, or requests it. Throws `operator_not_found`. */
export async function changeAccess(
  tx: Tx,
  tools: AccessTools,
  by: Administrator,
  change: AccessChange,
): Promise<ChangedAccess> {
  const operator = await findOperator(tx, change.operatorId)
  if (operator?.operatorId !== change.operatorId) return fail('operator_not_found')
  if (needsSecond(operator, change)) {
    const approvalId = await requestAccess(tx, tools, by, change)
    if (approvalId) return { operator, approvalId, removed: 0 }
  }
  return apply(tx, operator, change)
}

/** Less rights, and an operator who only looks, need one administrator. */
function needsSecond({ role }: OperatorAccount, change: AccessChange): boolean {
  if (change.kind === 'role') return !covers(role, change.role)
  return change.kind !== 'enable' || !onlyLooks(role)
}

async function apply(tx: Tx, operator: OperatorAccount, change: AccessChange): Promise<ChangedAccess> {
  const { operatorId } = operator
  switch (change.kind) {
    case 'role':
    case 'enable': {
      const wanted = change.kind === 'role' ? { role: change.role } : { disabled: false }
      const changed = await updateOperator(tx, operatorId, wanted)
      return { operator: required(changed, 'an operator is never deleted'), removed: 0 }
    }
    case 'passkeys':
      await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
      recordAudit(tx, [{ action: 'operator.passkeys_removed', target: operatorId }])
      return { operator, removed: await OPERATOR_PASSKEYS.removeAll(tx, [operatorId]) }
    case 'second_factor':
      await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
      return { operator, removed: Number(await OPERATOR_FACTORS.remove(tx, [operatorId])) }
    case 'identity':
      await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
      return { operator, removed: Number(await unlinkIdentity(tx, operatorId)) }
  }
}

/** What waits for a second administrator, newest first. */
export const listAccessRequests = async (tx: Tx, now: Date): Promise<AccessRequest[]> =>
  (await tx.query(LIST, [now])).map(toRequest)

/**
 * Decides a request. Only a second person approves (decision R10), while the requester is still an administrator; what was
 * requested happens in the same transaction.
 */
export async function decideAccessRequest(
  tx: Tx,
  {
    approvalId,
    outcome,
    by,
    now,
  }: {
    readonly approvalId: string
    readonly outcome: 'APPROVED' | 'REJECTED'
    readonly by: string
    readonly now: Date
  },
): Promise<AccessRequest> {
  const [row] = await tx.query(LOCK, [approvalId])
  if (!row) return fail('approval_not_found')
  if (row.outcome !== null || row.revoked_at !== null || row.expires_at <= now) return fail('approval_closed')
  if (outcome === 'APPROVED') {
    const problem = await secondPersonProblem(tx, [row.requested_by], by)
    if (problem) fail('approval_same_person', problem.isSame ? {} : { description: problem.description })
    await requireStill(tx, row.requested_by, isOfMember(row.kind) ? 'operations' : 'administer')
  }
  await tx.query(DECIDE, [approvalId, outcome, by, now])
  if (outcome === 'APPROVED') await carryOut(tx, row)
  else if (row.kind === 'member_link') await refuseLink(tx, memberOf(row))
  return { ...toRequest(row), outcome }
}

/** A link works once it is approved, and no more happens. */
async function carryOut(tx: Tx, row: RequestRow): Promise<void> {
  const { kind, operator_id: operatorId, role } = row
  if (kind === 'link') return
  if (isOfMember(kind)) return carryOutOfMember(tx, kind, row)
  const operator = operatorId === null ? undefined : await findOperator(tx, operatorId)
  if (!operator) return
  const of = { operatorId: operator.operatorId }
  await apply(tx, operator, kind === 'role' ? { kind, role: role as Role, ...of } : { kind, ...of })
}

const isOfMember = (kind: AccessKind): kind is MemberAccess =>
  (MEMBER_ACCESS as readonly AccessKind[]).includes(kind)

const memberOf = ({ member_id: memberId, tenant_id: tenantId }: RequestRow) => ({
  tenantId: required(tenantId ?? undefined, 'a member has a tenant'),
  memberId: required(memberId ?? undefined, 'it is of a member'),
})

async function carryOutOfMember(tx: Tx, kind: MemberAccess, row: RequestRow): Promise<void> {
  const { tenantId, memberId } = memberOf(row)
  if (kind === 'member_link') await approveLink(tx, { tenantId, memberId })
  else if (kind === 'member_second_factor') await resetMemberFactor(tx, tenantId, memberId)
  else {
    const change = kind === 'member_role' ? { role: row.role as MemberRole } : { disabled: false }
    await changeMember(tx, tenantId, memberId, change)
  }
}

export interface ChangedMember {
  readonly member: Member
  /** It waits for a second administrator. */
  readonly approvalId?: string | undefined
  readonly removed: boolean
}

/** Lets the link that an operator just made wait for a second administrator: who opens it acts as the tenant. */
export async function requestLink(
  tx: Tx,
  tools: AccessTools,
  by: Administrator,
  { memberId, tenantId }: Pick<Member, 'memberId' | 'tenantId'>,
): Promise<string | undefined> {
  const wanted = { kind: 'member_link', operatorId: null, member: { tenantId, memberId } } as const
  const approvalId = await requestAccess(tx, tools, by, wanted)
  if (approvalId !== undefined) await waitWithLink(tx, { tenantId, memberId })
  return approvalId
}

/** Changes role or access of a member, or requests what gives that person more. `undefined` for none such. */
export async function changeMemberAccess(
  tx: Tx,
  tools: AccessTools,
  by: Administrator,
  {
    change,
    tenantId,
    who,
  }: { readonly tenantId: string; readonly who: string; readonly change: MemberChange },
): Promise<Omit<ChangedMember, 'removed'> | undefined> {
  const member = await findMember(tx, tenantId, who)
  if (!member) return undefined
  const { memberId } = member
  const { disabled, role } = change
  const isMore = role !== undefined && MEMBER_ROLES.indexOf(role) > MEMBER_ROLES.indexOf(member.role)
  const returns = disabled === false && member.disabledAt !== null
  const kind = isMore ? 'member_role' : returns ? 'member_enable' : undefined
  if (kind !== undefined) {
    if (isMore && returns) failField('disabled', 'not_allowed', 'must be changed apart from the role')
    const wanted = {
      kind,
      operatorId: null,
      ...(isMore && { role }),
      member: { tenantId, memberId },
    } as const
    const approvalId = await requestAccess(tx, tools, by, wanted)
    if (approvalId !== undefined) {
      const rest = isMore ? { disabled } : { role }
      const changed = await changeMember(tx, tenantId, memberId, rest)
      return { member: changed ?? member, approvalId }
    }
  }
  const changed = await changeMember(tx, tenantId, memberId, change)
  return changed && { member: changed }
}

/**
 * Resets a member's second factor, or requests it: with a link and without the factor an operator could act as the member.
 * `undefined` for none such.
 */
export async function changeMemberFactor(
  tx: Tx,
  tools: AccessTools,
  by: Administrator,
  { tenantId, who }: { readonly tenantId: string; readonly who: string },
): Promise<ChangedMember | undefined> {
  const member = await findMember(tx, tenantId, who)
  if (!member?.hasSecondFactor) return member && { member, removed: false }
  const { memberId } = member
  const wanted = { kind: 'member_second_factor', operatorId: null, member: { tenantId, memberId } } as const
  const approvalId = await requestAccess(tx, tools, by, wanted)
  return approvalId ? { member, approvalId, removed: false } : resetMemberFactor(tx, tenantId, memberId)
}

export const toolsOf = ({
  clock,
  config,
  random,
}: Pick<Services, 'clock' | 'config' | 'random'>): AccessTools => ({
  config,
  random,
  now: new Date(clock.now()),
})

export const byOperator = ({ caller }: { readonly caller: Caller }): Administrator => ({
  actor: actorOf(caller),
  alone: caller.actor?.isOwner ?? false,
})

export const WaitsFor = maybe('What a second administrator must approve before it happens')
