import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { findTenant, requireOpenTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  maybeInstant,
  record,
  text,
} from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { byOperator, requestLink, toolsOf, WaitsFor } from '../identity/access-requests.ts'
import { LINK_HOURS, LinkHours } from '../identity/links.ts'
import { handOver, type ListedHandover, listHandovers } from '../portal/handover-store.ts'
import { InviteBody } from '../portal/member-records.ts'

const TAG = 'Credentials'
const PATH = `${CONSOLE_API}/tenants/:tenantId/handovers`

const STATES = ['waiting', 'expired', 'opened'] as const
export const HandoverRecord = record('Handover', {
  memberId: text(),
  name: text('The person who opens the link'),
  sharedKey: Type.Boolean({ description: 'Whether it includes a shared encryption key' }),
  state: Type.Enum([...STATES]),
  createdOn: instant,
  createdBy: text('Who made the link, as the audit names them'),
  expiresOn: maybeInstant,
  openedOn: maybeInstant,
  credentialId: maybe('What was issued when the link was opened'),
  kid: maybe('Key id of the shared key that was issued with it'),
})

export function handoverToWire(handover: ListedHandover, timeZone: string, now: Date) {
  const { memberId, name, sharedKey, createdBy, openedAt, linkExpiresAt, credentialId, kid } = handover
  const lives = linkExpiresAt !== null && linkExpiresAt > now
  const state: (typeof STATES)[number] = openedAt ? 'opened' : lives ? 'waiting' : 'expired'
  return {
    memberId,
    name,
    sharedKey,
    state,
    createdOn: rfc3339(handover.createdAt, timeZone),
    createdBy,
    expiresOn: state === 'waiting' ? rfc3339(linkExpiresAt!, timeZone) : undefined,
    openedOn: openedAt ? rfc3339(openedAt, timeZone) : undefined,
    credentialId: credentialId ?? undefined,
    kid: kid ?? undefined,
  }
}

export const showHandovers = query({
  ...consoleOperation,
  id: 'console.showHandovers',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'Show to whom credentials were handed over',
  permission: 'view',
  params: idParam('tenantId'),
  result: closed({ data: Type.Array(HandoverRecord, { description: 'Newest first' }) }),
  errors: ['tenant_not_found'],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }: ConsoleServices) {
    return async ({ params: { tenantId } }) => {
      const found = await database.operate(async (tx) => {
        if (!(await findTenant(tx, tenantId))) fail('tenant_not_found')
        return listHandovers(tx, tenantId)
      })
      const now = new Date(clock.now())
      return { body: JSON.stringify({ data: found.map((one) => handoverToWire(one, timeZone, now)) }) }
    }
  },
})

export const handOverCredentials = query({
  ...consoleOperation,
  id: 'console.handOverCredentials',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Hand over credentials by a link that works once',
  description:
    'Invites the person as an administrator of the portal, or makes a new link for one who is. The credentials are issued when the person opens the link and chooses a password, and are shown there, once: neither you nor the database have them before. In live mode a second administrator approves the link first.',
  permission: 'operations',
  params: idParam('tenantId'),
  body: closed({
    name: InviteBody.properties.name,
    hours: LinkHours,
    sharedKey: Type.Optional(
      Type.Boolean({ description: 'Partners only: with a shared encryption key; false by default' }),
    ),
  }),
  result: closed({
    handover: HandoverRecord,
    link: text('Address for the person; only here and only now'),
    approvalId: WaitsFor,
  }),
  errors: [
    'tenant_not_found',
    'tenant_closing',
    'already_exists',
    'member_disabled',
    'too_many_members',
    'approval_open',
  ],
  mount(services: ConsoleServices) {
    const { config, publicUrl } = services
    return async (input) => {
      const { tenantId } = input.params
      const { name, sharedKey = false, hours = LINK_HOURS } = input.body
      const tools = toolsOf(services)
      const requested = {
        tenantId,
        name,
        sharedKey,
        hours,
        createdBy: actorOf(input.caller),
        publicUrl: publicUrl(),
      }
      const { approvalId, link, handover } = await asOperator(services, input, async (tx) => {
        const kind = (await findTenant(tx, tenantId)) ?? fail('tenant_not_found')
        if (sharedKey && kind !== 'partner')
          failField('sharedKey', 'not_allowed', 'is for partners: requests of merchants are not encrypted')
        await requireOpenTenant(tx, tenantId)
        const { link, member } = await handOver(tx, tools, requested)
        const waits = await requestLink(tx, tools, byOperator(input), member)
        const all = await listHandovers(tx, tenantId)
        return {
          approvalId: waits,
          link,
          handover: all.find(({ memberId }) => memberId === member.memberId)!,
        }
      })
      const shown = handoverToWire(handover, config.BUSINESS_TIME_ZONE, tools.now)
      return { body: JSON.stringify({ handover: shown, link, approvalId }) }
    }
  },
})
