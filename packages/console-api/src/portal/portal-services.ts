import type { ByMember, Tx } from '@svc/platform/db/database'
import type { HttpResponse } from '@svc/platform/db/idempotency-store'
import type { Input } from '@svc/server/http/operation'
import { retryKey } from '@svc/server/http/retry-key'
import type { ApiServices } from '@svc/server/operations'
import { MEMBERS, type Person } from '../identity/audience.ts'
import { MEMBER_FACTORS } from '../identity/second-factor-store.ts'
import { MEMBER_SESSIONS } from '../identity/session-store.ts'
import { type SignIns, signInsOf } from '../identity/sign-ins.ts'
import { once } from '../once.ts'
import { FailedMemberSignIns } from './failed-member-sign-ins.ts'
import type { MemberRole } from './member-roles.ts'
import { PORTAL } from './mounted-operations.ts'

/** What the portal has besides the services of the API. */
export interface PortalServices extends ApiServices, SignIns<MemberRole> {
  readonly failedMemberSignIns: FailedMemberSignIns
}

export const portalServices = (services: ApiServices): PortalServices => ({
  ...services,
  ...signInsOf(services, MEMBERS, MEMBER_FACTORS, {
    at: 'portal',
    store: MEMBER_SESSIONS,
    secondFactor: 'PORTAL_SECOND_FACTOR',
    movesMoney: (role: MemberRole) => role !== 'viewer',
    read: (tenantId, work) => services.database.read([tenantId], work),
    write: (tenantId, work) => services.database.write([tenantId], work),
  }),
  failedMemberSignIns: new FailedMemberSignIns(services),
})

/** Path of the portal's own operations, among those of tenants. */
export const PORTAL_API = `${PORTAL}/api/v0`

/** What all of them share: who may call, and how they fail. */
export const memberOperation = { auth: 'member', envelope: 'problem' } as const

/** A transaction of a tenant, on behalf of one of its members, whom the audit names. */
export const writeAsMember = <T>(
  database: PortalServices['database'],
  tenantId: string,
  by: ByMember,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => database.write([tenantId], work, undefined, by)

/** A transaction of the calling member: of the member's tenant alone, audited under the member's name. */
export const asMember = <T>(
  { database }: PortalServices,
  { caller, requestId }: { readonly caller: Person; readonly requestId: string },
  work: (tx: Tx) => Promise<T>,
): Promise<T> => writeAsMember(database, caller.tenantId, { member: caller.member!, requestId }, work)

/** As `asMember`, for what creates something: a form that is sent again with the same key creates nothing twice. */
export const onceAsMember = (
  services: PortalServices,
  route: { readonly method: 'POST'; readonly path: string },
  input: Input<unknown, unknown, unknown>,
  work: (tx: Tx) => Promise<object>,
): Promise<HttpResponse> =>
  asMember(services, input, (tx) => once(services, tx, retryKey(route, input), () => work(tx)))
