import { mayChange, type Operation } from '@svc/server/http/operation'
import { type ApiServices, OPERATIONS } from '@svc/server/operations'
import { requireRecentProof } from '../identity/proof-age.ts'
import type { MemberRole } from './member-roles.ts'

/** Where the portal has the operations of tenants, and its own. */
export const PORTAL = '/portal'

const OF_TENANTS = new Set(['merchant', 'partner', 'partnerWithId', 'partnerSession', 'tenant'])
/** What takes what only a program makes (encrypted orders, files of a line for each load), holds a connection open, or is the material of proofs. */
const FOR_PROGRAMS = new Set([
  'createGiftCard',
  'bulkIssueGiftCards',
  'bulkLoadCards',
  'streamEvents',
  'getFeedHead',
  'listEventLeaves',
  'getEventProof',
  'getFeedConsistency',
])

/**
 * They move money, cannot be taken back, or decide who gets the tenant's events: the member must have proved who they
 * are a few minutes ago.
 */
const STEP_UP = new Set([
  'cancelQrCode',
  'createRefund',
  'acceptDispute',
  'loadCard',
  'unloadCard',
  'returnCard',
  'replaceCard',
  'allocateCoins',
  'confirmCoinAllocation',
  'voidCoinAllocation',
  'redeemCoins',
  'eraseUser',
  'createWebhookEndpoint',
  'deleteWebhookEndpoint',
  'updateWebhookEndpoint',
  'rotateWebhookSecret',
])

/** The same of some requests only: blocking a card is final, locking it is not. */
const STEP_UP_IF: Readonly<Record<string, (body: unknown) => boolean>> = {
  changeCardStatus: (body) => (body as { status: string }).status === 'BL',
}

const IRREVERSIBLE = new Set(['acceptDispute', 'eraseUser'])

/** Keys, webhooks and what is lost by a click are for administrators; viewers only read. */
function leastRole(operation: Operation<ApiServices>): MemberRole {
  if (!mayChange(operation as Operation)) return 'viewer'
  return operation.tag === 'Webhooks' || IRREVERSIBLE.has(operation.id) ? 'admin' : 'operator'
}

const withProof = (
  { errors, mount }: Operation<ApiServices>,
  needs: (body: unknown) => boolean,
): Pick<Operation<ApiServices>, 'errors' | 'mount'> => ({
  errors: [...errors, 'step_up_required'],
  mount(services) {
    const handle = mount(services)
    return (input) => {
      if (needs(input.body)) requireRecentProof(input.caller)
      return handle(input)
    }
  },
})

/**
 * The operations of tenants once more, behind a member's session: the same commands and reads, with the tenant of the
 * member, by the service's own role (decision O6).
 */
export const MOUNTED: readonly Operation<ApiServices>[] = OPERATIONS.filter(
  ({ auth, id, sandboxOnly }) => OF_TENANTS.has(auth) && !sandboxOnly && !FOR_PROGRAMS.has(id),
).map((operation) => {
  const { encrypted: _, samples: __, headers: ___, scope: ____, ...rest } = operation
  const stepsUp = STEP_UP_IF[operation.id]
  return {
    ...rest,
    ...(stepsUp && withProof(operation, stepsUp)),
    path: `${PORTAL}${operation.path}`,
    role: leastRole(operation),
    ...(STEP_UP.has(operation.id) && { stepUp: true }),
  } as Operation<ApiServices>
})
