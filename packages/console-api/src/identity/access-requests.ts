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
  type MemberKey,
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
  readonly operatorId: string | null
  readonly tenantId: string | null
  readonly memberId: string | null
  readonly name: string
  readonly role: Role | MemberRole | null
  readonly requestedBy: string
  readonly requestedAt: Date
  readonly expiresAt: Date
  readonly outcome: 'APPROVED' | 'REJECTED' | 'EXPIRED' | null
  readonly decidedBy: string | null
  readonly decidedAt: Date | null
  /** Of a link that was revoked before it was used. */
  readonly revokedAt: Date | null
}

const COLUMNS = `r.approval_id as "approvalId", r.kind, r.operator_id as "operatorId", r.member_tenant as "tenantId", r.member_id as "memberId",
    coalesce(i.name, o.name, m.name) as name, coalesce(r.role, i.role) as role, r.requested_by as "requestedBy", r.requested_at as "requestedAt",
    r.expires_at as "expiresAt", r.outcome, r.decided_by as "decidedBy", r.decided_at as "decidedAt", i.revoked_at as "revokedAt"`
const JOINS = `left join operator_invitations i on i.invitation_id = r.invitation_id
    left join operators o on o.operator_id = r.operator_id
    left join members m on m.tenant_id = r.member_tenant and m.member_id = r.member_id`
/** Where requests come from, for lists. */
export const ACCESS_REQUESTS = { columns: COLUMNS, table: 'access_requests r', alias: 'r', joins: JOINS }

const LOCK = statement<AccessRequest>(
  'access_request_lock',
  `select ${COLUMNS} from access_requests r ${JOINS} where r.approval_id = $1 for no key update of r`,
)
const DECIDE = statement(
  'access_request_decide',
  'update access_requests set outcome = $2, decided_by = $3, decided_at = $4 where approval_id = $1',
)

/** Whether a second administrator can still decide. */
export const stillWaits = ({ expiresAt, outcome, revokedAt }: AccessRequest, now: Date): boolean =>
  outcome === null && revokedAt === null && expiresAt > now

export interface ChangedAccess {
  readonly operator: OperatorAccount
  /** It waits for a second administrator. */
  readonly approvalId?: string | undefined
  /** Whether there was what is removed. */
  readonly removed: boolean
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
    if (approvalId) return { operator, approvalId, removed: false }
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
      return { operator: required(changed, 'an operator is never deleted'), removed: false }
    }
    case 'passkeys':
      await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
      recordAudit(tx, [{ action: 'operator.passkeys_removed', target: operatorId }])
      return { operator, removed: (await OPERATOR_PASSKEYS.removeAll(tx, [operatorId])) > 0 }
    case 'second_factor':
      await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
      return { operator, removed: await OPERATOR_FACTORS.remove(tx, [operatorId]) }
    case 'identity':
      await OPERATOR_SESSIONS.endOthers(tx, [operatorId])
      return { operator, removed: await unlinkIdentity(tx, operatorId) }
  }
}

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
  const [request] = await tx.query(LOCK, [approvalId])
  if (!request) return fail('approval_not_found')
  if (!stillWaits(request, now)) return fail('approval_closed')
  if (outcome === 'APPROVED') {
    const problem = await secondPersonProblem(tx, [request.requestedBy], by)
    if (problem) fail('approval_same_person', problem.isSame ? {} : { description: problem.description })
    await requireStill(tx, request.requestedBy, isOfMember(request.kind) ? 'operations' : 'administer')
  }
  await tx.query(DECIDE, [approvalId, outcome, by, now])
  if (outcome === 'APPROVED') await carryOut(tx, request)
  else if (request.kind === 'member_link') await refuseLink(tx, memberOf(request))
  return { ...request, outcome, decidedBy: by, decidedAt: now }
}

/** A link works once it is approved, and no more happens. */
async function carryOut(tx: Tx, request: AccessRequest): Promise<void> {
  const { kind, operatorId, role } = request
  if (kind === 'link') return
  if (isOfMember(kind)) return carryOutOfMember(tx, kind, request)
  const operator = operatorId === null ? undefined : await findOperator(tx, operatorId)
  if (!operator) return
  const of = { operatorId: operator.operatorId }
  await apply(tx, operator, kind === 'role' ? { kind, role: role as Role, ...of } : { kind, ...of })
}

const isOfMember = (kind: AccessKind): kind is MemberAccess =>
  (MEMBER_ACCESS as readonly AccessKind[]).includes(kind)

const memberOf = ({ memberId, tenantId }: AccessRequest) => ({
  tenantId: required(tenantId ?? undefined, 'a member has a tenant'),
  memberId: required(memberId ?? undefined, 'it is of a member'),
})

async function carryOutOfMember(tx: Tx, kind: MemberAccess, request: AccessRequest): Promise<void> {
  const { tenantId, memberId } = memberOf(request)
  if (kind === 'member_link') await approveLink(tx, { tenantId, memberId })
  else if (kind === 'member_second_factor') await resetMemberFactor(tx, tenantId, memberId)
  else {
    const change = kind === 'member_role' ? { role: request.role as MemberRole } : { disabled: false }
    await changeMember(tx, tenantId, memberId, change)
  }
}

export interface ChangedMember {
  readonly member: Member
  /** It waits for a second administrator. */
  readonly approvalId?: string | undefined
  readonly removed: boolean
}

const ofMember = (kind: MemberAccess, member: MemberKey) => ({ kind, operatorId: null, member })

/** Lets the link that an operator just made wait for a second administrator: who opens it acts as the tenant. */
export async function requestLink(
  tx: Tx,
  tools: AccessTools,
  by: Administrator,
  { memberId, tenantId }: MemberKey,
): Promise<string | undefined> {
  const approvalId = await requestAccess(tx, tools, by, ofMember('member_link', { tenantId, memberId }))
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
    const wanted = { ...ofMember(kind, { tenantId, memberId }), ...(isMore && { role }) }
    const approvalId = await requestAccess(tx, tools, by, wanted)
    if (approvalId !== undefined) {
      if (isMore && returns) failField('disabled', 'not_allowed', 'must be changed apart from the role')
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
  const wanted = ofMember('member_second_factor', { tenantId, memberId })
  const approvalId = await requestAccess(tx, tools, by, wanted)
  return approvalId ? { member, approvalId, removed: false } : resetMemberFactor(tx, tenantId, memberId)
}

/** What links and requests are made with. */
export const toolsOf = ({
  clock,
  config,
  keyring,
  random,
}: Pick<Services, 'clock' | 'config' | 'keyring' | 'random'>) => ({
  config,
  keyring,
  random,
  now: new Date(clock.now()),
})

export const byOperator = ({ caller }: { readonly caller: Caller }): Administrator => ({
  actor: actorOf(caller),
  alone: caller.actor?.isOwner ?? false,
})

export const WaitsFor = maybe('What a second administrator must approve before it happens')
