import { recordActs } from '@svc/platform/audit'
import { VERSION } from '@svc/platform/package'
import type { About } from '@svc/server/http/openapi'
import type { Operation } from '@svc/server/http/operation'
import { type ExportFace, exportOf } from '../csv.ts'
import { ownAccount } from '../identity/own-account.ts'
import { listOwnActivity } from './activity-operations.ts'
import { listOwnCards } from './card-operations.ts'
import {
  issueOwnCredential,
  limitOwnCredential,
  listOwnCredentials,
  revokeOwnCredential,
  rollOwnCredential,
} from './credential-operations.ts'
import {
  issueOwnEncryptionKey,
  listOwnEncryptionKeys,
  retireOwnEncryptionKey,
} from './encryption-key-operations.ts'
import { listRecentEvents } from './event-operations.ts'
import { issueCardAsMember } from './issue-card.ts'
import { showMemberLink, useMemberLink } from './link-operations.ts'
import { listOwnMembers, ownMembers } from './member-operations.ts'
import { MOUNTED } from './mounted-operations.ts'
import { showPortalOverview, withdrawPaymentAddress } from './overview-operations.ts'
import { showPaymentArrival } from './payment-arrival.ts'
import {
  requestBankAccount,
  requestFee,
  requestPaymentAddress,
  showOwnPayoutTerms,
  withdrawChangeRequest,
} from './payout-terms-operations.ts'
import { PORTAL_FACE } from './portal-face.ts'
import { asMember, memberOperation, type PortalServices } from './portal-services.ts'
import { showOwnRequest } from './request-operations.ts'
import { enterPortalOfSandbox, listSandboxTenants } from './sandbox-operations.ts'
import { searchOwn, showOwnNames } from './search-operations.ts'
import { signInMember } from './sign-in-operations.ts'

/** Exports of the portal are recorded under the member's name. */
const MEMBER_EXPORTS: ExportFace<PortalServices> = {
  access: { ...memberOperation, role: 'admin' },
  record: (services, input, entry) =>
    asMember(services, input, async (tx) => {
      const { caller, requestId } = input
      recordActs(tx, [{ ...entry, member: caller.member!, tenantId: caller.tenantId, requestId }])
    }),
}

/** Every operation of the portal: those of tenants once more, and its own. */
export const PORTAL_OPERATIONS: readonly Operation<PortalServices>[] = [
  ...ownAccount(PORTAL_FACE),
  signInMember,
  listSandboxTenants,
  enterPortalOfSandbox,
  showMemberLink,
  useMemberLink,
  showPortalOverview,
  showPaymentArrival,
  searchOwn,
  showOwnNames,
  withdrawPaymentAddress,
  listOwnMembers,
  ...Object.values(ownMembers),
  listOwnCredentials,
  issueOwnCredential,
  limitOwnCredential,
  rollOwnCredential,
  revokeOwnCredential,
  listOwnEncryptionKeys,
  issueOwnEncryptionKey,
  retireOwnEncryptionKey,
  showOwnRequest,
  showOwnPayoutTerms,
  requestBankAccount,
  requestFee,
  requestPaymentAddress,
  withdrawChangeRequest,
  issueCardAsMember,
  listOwnCards,
  exportOf(listOwnCards, MEMBER_EXPORTS),
  listRecentEvents,
  listOwnActivity,
  exportOf(listOwnActivity, MEMBER_EXPORTS),
  ...MOUNTED,
]

/** As its document shows them: all are called with a member's session. */
export const PORTAL_DOCUMENTED = PORTAL_OPERATIONS.map((operation) =>
  operation.auth === 'none' || operation.auth === 'loopback'
    ? operation
    : ({ ...operation, auth: 'member' } as Operation<PortalServices>),
)

/** What the OpenAPI document of the portal has besides its operations. */
export const PORTAL_DOCUMENT: About = {
  title: 'svc portal',
  version: VERSION,
  description: 'The API of the tenants’ portal. Not for integrators: it changes with the page.',
  securitySchemes: () => ({
    member: {
      type: 'apiKey',
      in: 'cookie',
      name: 'svc_portal',
      description:
        'Session of a member; `__Host-svc_portal` over TLS. Every request that is not a GET must have the header `x-svc-console: 1` and come from the portal’s own origin',
    },
    loopback: {
      type: 'apiKey',
      in: 'header',
      name: 'x-svc-console',
      description: 'From this machine, by a name of this machine',
    },
  }),
  tags: {},
}
