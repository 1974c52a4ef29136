import { required } from '@svc/kernel/invariant'
import type { CommandAudit } from '@svc/platform/audit'
import type { HttpResponse } from '@svc/platform/db/idempotency-store'

interface Request {
  readonly caller: { readonly tenantId: string; readonly member?: string }
  readonly params: unknown
  readonly requestId: string
}

const ID = /"([a-z]+_[0-9a-z]{26})"/

/** An operation's entry in the audit: of a member's request it names the member, not the tenant (decision O6). */
export function namingMember<D>(
  entry: CommandAudit<D>,
  { caller: { member }, requestId }: Pick<Request, 'caller' | 'requestId'>,
): CommandAudit<D> {
  if (member === undefined) return entry
  const { actor: _, ...others } = entry
  return { ...others, member, requestId }
}

/** What the audit says of a command of a member (decision O6): the object is in the path, or the command makes it. */
export function auditOfMember<D>(
  operationId: string,
  { caller: { member, tenantId }, params, requestId }: Request,
  reply: (decision: D) => HttpResponse,
): CommandAudit<D> {
  const [named] = Object.values(params as Record<string, string>)
  const target = named ?? ((decision: D) => ID.exec(reply(decision).body)?.[1] ?? tenantId)
  return {
    action: `portal.${operationId}`,
    target,
    tenantId,
    requestId,
    member: required(member, 'a member calls'),
  }
}
