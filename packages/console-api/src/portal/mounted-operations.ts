import { mayChange, type Operation } from '@svc/server/http/operation'
import { type ApiServices, OPERATIONS } from '@svc/server/operations'
import type { MemberRole } from './member-roles.ts'

/** Where the portal has the operations of tenants, and its own. */
export const PORTAL = '/portal'

const OF_TENANTS = new Set(['merchant', 'partner', 'partnerWithId', 'partnerSession', 'tenant'])
/** What takes what only a program makes (encrypted orders), or holds a connection open. */
const FOR_PROGRAMS = new Set(['createGiftCard', 'bulkIssueGiftCards', 'streamEvents'])

/**
 * They move money, cannot be taken back, or decide who gets the tenant's events: the member must have proved who they
 * are a few minutes ago.
 */
const STEP_UP = new Set([
  'createRefund',
  'acceptDispute',
  'returnCard',
  'replaceCard',
  'voidCoinAllocation',
  'eraseUser',
  'createWebhookEndpoint',
  'updateWebhookEndpoint',
  'rotateWebhookSecret',
])

const IRREVERSIBLE = new Set(['acceptDispute', 'eraseUser'])

/** Keys, webhooks and what is lost by a click are for administrators; viewers only read. */
function leastRole(operation: Operation<ApiServices>): MemberRole {
  if (!mayChange(operation as Operation)) return 'viewer'
  return operation.tag === 'Webhooks' || IRREVERSIBLE.has(operation.id) ? 'admin' : 'operator'
}

/**
 * The operations of tenants once more, behind a member's session: the same commands and reads, with the tenant of the
 * member, by the service's own role (decision O6).
 */
export const MOUNTED: readonly Operation<ApiServices>[] = OPERATIONS.filter(
  ({ auth, id, sandboxOnly }) => OF_TENANTS.has(auth) && !sandboxOnly && !FOR_PROGRAMS.has(id),
).map((operation) => {
  const { encrypted: _, samples: __, headers: ___, scope: ____, ...rest } = operation
  return {
    ...rest,
    path: `${PORTAL}${operation.path}`,
    role: leastRole(operation),
    ...(STEP_UP.has(operation.id) && { stepUp: true }),
  } as Operation<ApiServices>
})
