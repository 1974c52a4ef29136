import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { type AnyInput, type Operation, query, type Services } from '@svc/server/http/operation'
import { type TProperties, Type } from 'typebox'
import { closed, maybe, record, text } from '../console-schema.ts'
import {
  type ChangedMember,
  changeMemberAccess,
  changeMemberFactor,
  requestLink,
  toolsOf,
} from '../identity/access-requests.ts'
import { LINK_HOURS } from '../identity/links.ts'
import type { Administrator } from '../identity/second-administrator.ts'
import { ChangeBody, InviteBody, LinkBody, MEMBER_FIELDS, memberToWire } from './member-records.ts'
import { inviteMember, type LinkedMember, renewLink } from './member-store.ts'

type Asked = Pick<AnyInput, 'caller' | 'params' | 'requestId'>

/** Who manages members: operators those of every tenant, its administrators their own. */
export interface MemberFace<S extends Services> {
  readonly id: 'console' | 'portal'
  readonly path: string
  readonly tag: string
  /** Who may call. */
  readonly may: {
    readonly auth: 'operator' | 'member'
    readonly envelope: 'problem'
    readonly permission?: 'operations'
    readonly role?: 'admin'
  }
  /** What the path names before the member. */
  readonly params: TProperties
  readonly tenantOf: (input: Asked) => string
  readonly by: (input: Asked) => Administrator
  /** What the caller changes is audited under the caller's name. */
  readonly act: <T>(services: S, input: Asked, work: (tx: Tx) => Promise<T>) => Promise<T>
  /** Throws `tenant_not_found`. */
  readonly requireTenant: (tx: Tx, tenantId: string) => Promise<void>
  /** Throws `own_membership`. */
  readonly requireOther: (input: Asked) => void
}

type Side = Pick<MemberFace<never>, 'id' | 'params'>
/** Operators alone wait for a second administrator: with a link or more rights they could act as the tenant. */
const waits = ({ id }: Side): boolean => id === 'console'
const said = (face: Side, text: string, approval: string): string =>
  waits(face) ? `${text} In live mode a second administrator approves ${approval}.` : text
const approvalIn = (face: Side, what: string): TProperties =>
  waits(face) ? { approvalId: maybe(`What a second administrator must approve before ${what}`) } : {}
const errorsOf = (face: Side, ofTenant?: 'own_membership') =>
  waits(face) ? (['approval_open'] as const) : ofTenant ? [ofTenant] : []

const ofMember = ({ params }: Side) => Type.Object({ ...params, memberId: Type.String({ maxLength: 128 }) })

/** The link goes to the caller, who passes it on, and is stored nowhere. */
const linked = (
  { config }: Services,
  { approvalId, link, member }: LinkedMember & { readonly approvalId: string | undefined },
) => ({ body: JSON.stringify({ ...memberToWire(member, config.BUSINESS_TIME_ZONE), link, approvalId }) })

/** What console and portal have of members besides their list, under the same names. */
export const manageMembers = <S extends Services>(face: MemberFace<S>) => ({
  invite: inviting(face),
  change: changing(face),
  renewLink: renewing(face),
  resetFactor: resetting(face),
})

const InvitedMember = (face: Side) =>
  record('InvitedMember', {
    ...MEMBER_FIELDS,
    link: text('Address for the person, who chooses a password there; only here and only now'),
    ...approvalIn(face, 'the link opens'),
  })

const inviting = <S extends Services>(face: MemberFace<S>): Operation<S> =>
  query({
    ...face.may,
    id: `${face.id}.inviteMember`,
    stepUp: true,
    method: 'POST',
    path: face.path,
    tag: face.tag,
    summary: 'Invite member',
    description: said(
      face,
      'Returns a link that works once, with which the person chooses a password for the portal.',
      'it first',
    ),
    ...(Object.keys(face.params).length > 0 && { params: Type.Object(face.params) }),
    body: InviteBody,
    result: InvitedMember(face),
    errors: [
      ...(waits(face) ? (['tenant_not_found'] as const) : []),
      'already_exists',
      'too_many_members',
      ...errorsOf(face),
    ],
    mount(services: S) {
      return async (input) => {
        const { hours = LINK_HOURS, ...wanted } = input.body
        const [by, tenantId] = [face.by(input), face.tenantOf(input)]
        const of = { tenantId, hours, createdBy: by.actor, publicUrl: services.publicUrl() }
        const invited = await face.act(services, input, async (tx) => {
          await face.requireTenant(tx, tenantId)
          const made = await inviteMember(tx, toolsOf(services), { ...wanted, ...of })
          return { ...made, approvalId: await requestLink(tx, toolsOf(services), by, made.member) }
        })
        return linked(services, invited)
      }
    },
  })

const renewing = <S extends Services>(face: MemberFace<S>): Operation<S> =>
  query({
    ...face.may,
    id: `${face.id}.renewMemberLink`,
    stepUp: true,
    method: 'POST',
    path: `${face.path}/:memberId/link`,
    tag: face.tag,
    summary: 'Create a new link for a member',
    description: said(
      face,
      'For who lost the link or the password. The link before stops working.',
      'it first, as with an invitation',
    ),
    params: ofMember(face),
    body: LinkBody,
    result: InvitedMember(face),
    errors: ['member_not_found', 'member_disabled', ...errorsOf(face)],
    mount(services: S) {
      return async (input) => {
        const { hours = LINK_HOURS } = input.body
        const who = { tenantId: face.tenantOf(input), who: input.params.memberId }
        const renewed = await face.act(services, input, async (tx) => {
          const link = { ...who, hours, publicUrl: services.publicUrl() }
          const made = (await renewLink(tx, toolsOf(services), link)) ?? fail('member_not_found')
          return {
            ...made,
            approvalId: await requestLink(tx, toolsOf(services), face.by(input), made.member),
          }
        })
        return linked(services, renewed)
      }
    },
  })

const changing = <S extends Services>(face: MemberFace<S>): Operation<S> =>
  query({
    ...face.may,
    id: `${face.id}.changeMember`,
    stepUp: true,
    method: 'PATCH',
    path: `${face.path}/:memberId`,
    tag: face.tag,
    summary: 'Change role or access of a member',
    description: said(
      face,
      'Ends the sessions of that member.',
      'more rights, and that a member is no longer disabled',
    ),
    params: ofMember(face),
    body: ChangeBody,
    result: record(waits(face) ? 'ChangedMember' : 'Member', {
      ...MEMBER_FIELDS,
      ...approvalIn(face, 'the member may do more'),
    }),
    errors: ['member_not_found', ...errorsOf(face, 'own_membership')],
    mount(services: S) {
      return async (input) => {
        face.requireOther(input)
        const wanted = { tenantId: face.tenantOf(input), who: input.params.memberId, change: input.body }
        const changed = await face.act(services, input, (tx) =>
          changeMemberAccess(tx, toolsOf(services), face.by(input), wanted),
        )
        const { approvalId, member }: Omit<ChangedMember, 'removed'> = changed ?? fail('member_not_found')
        const shown = memberToWire(member, services.config.BUSINESS_TIME_ZONE)
        return { body: JSON.stringify({ ...shown, approvalId }) }
      }
    },
  })

const resetting = <S extends Services>(face: MemberFace<S>): Operation<S> =>
  query({
    ...face.may,
    id: `${face.id}.resetMemberSecondFactor`,
    stepUp: true,
    method: 'DELETE',
    path: `${face.path}/:memberId/second-factor`,
    tag: face.tag,
    summary: 'Reset the second factor of a member',
    description: said(
      face,
      'For one who has lost the device: removes the authenticator app, its recovery codes, and all passkeys. Ends all sessions of the member.',
      'it first',
    ),
    params: ofMember(face),
    result: closed({ removed: Type.Boolean(), ...approvalIn(face, 'it happens') }),
    errors: ['member_not_found', 'second_factor_not_found', ...errorsOf(face, 'own_membership')],
    mount(services: S) {
      return async (input) => {
        face.requireOther(input)
        const wanted = { tenantId: face.tenantOf(input), who: input.params.memberId }
        const reset = await face.act(services, input, (tx) =>
          changeMemberFactor(tx, toolsOf(services), face.by(input), wanted),
        )
        const { approvalId, removed } = reset ?? fail('member_not_found')
        if (approvalId === undefined && !removed) fail('second_factor_not_found')
        return { body: JSON.stringify({ removed, approvalId }) }
      }
    },
  })
