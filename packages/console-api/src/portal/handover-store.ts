import { fail } from '@svc/contract/errors'
import type { KeyMaker } from '@svc/core/tenants/api-key'
import { type IssuedCredential, issueCredential } from '@svc/core/tenants/credentials'
import { issueSharedKey, type SharedKey } from '@svc/core/tenants/jwe-keys'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { flag, generated, instant, nullable, type RowOf, table, text } from '@svc/platform/db/table'
import {
  findMember,
  inviteMember,
  type LinkedMember,
  type LinkTools,
  type Member,
  renewLink,
} from './member-store.ts'

/** Credentials that the link of a member hands over, issued when it is used (decision O8). */
const handovers = table('handovers', 'h', ['tenantId', 'memberId'], {
  tenantId: text,
  memberId: text,
  sharedKey: flag,
  createdAt: instant,
  createdBy: text,
  openedAt: generated(nullable(instant)),
  credentialId: generated(nullable(text)),
  kid: generated(nullable(text)),
})
type Handover = RowOf<typeof handovers>

/** With the person, and until when the link works. */
export type ListedHandover = Handover & Pick<Member, 'name' | 'linkExpiresAt'>

const ENTER = statement(
  'handover_enter',
  `insert into handovers (tenant_id, member_id, shared_key, created_at, created_by) values ($1, $2, $3, $4, $5)
   on conflict (tenant_id, member_id) do update set shared_key = excluded.shared_key, created_at = excluded.created_at,
     created_by = excluded.created_by, opened_at = null, credential_id = null, kid = null`,
)
const LIST = statement<ListedHandover>(
  'handovers_list',
  `select ${handovers.columns}, m.name, m.link_expires_at as "linkExpiresAt"
   from handovers h join members m on m.tenant_id = h.tenant_id and m.member_id = h.member_id
   where h.tenant_id = $1 order by h.created_at desc, h.member_id`,
)
const WAITING = statement<Handover>(
  'handover_waiting',
  `select ${handovers.columns} from handovers h
   where h.tenant_id = $1 and h.member_id = $2 and h.opened_at is null`,
)
const OPEN = statement(
  'handover_open',
  `update handovers set opened_at = clock_timestamp(), credential_id = $3, kid = $4
   where tenant_id = $1 and member_id = $2 and opened_at is null`,
)

export const listHandovers = (tx: Tx, tenantId: string): Promise<ListedHandover[]> =>
  tx.query(LIST, [tenantId])

interface NewHandover {
  readonly tenantId: string
  readonly name: string
  readonly sharedKey: boolean
  readonly hours: number
  readonly createdBy: string
  readonly publicUrl: string
}

/**
 * Invites a person as an administrator, whose link also hands over credentials; a person who is one already gets a new
 * link. The link is returned here and never again. Throws `already_exists` for a member of another role.
 */
export async function handOver(
  tx: Tx,
  tools: LinkTools,
  { sharedKey, ...requested }: NewHandover,
): Promise<LinkedMember> {
  const { tenantId, name, createdBy } = requested
  const known = await findMember(tx, tenantId, name)
  if (known && known.role !== 'admin')
    fail('already_exists', { description: `name: ${name} is a member with the role ${known.role}` })
  const renewed = known && (await renewLink(tx, tools, { ...requested, who: name }))
  const linked = renewed ?? (await inviteMember(tx, tools, { ...requested, role: 'admin' }))
  await tx.query(ENTER, [tenantId, linked.member.memberId, sharedKey, tools.now, createdBy])
  return linked
}

/** What the member's link hands over; `undefined` for a link that chooses a password and no more. */
export async function waitingHandover(
  tx: Tx,
  { tenantId, memberId, role }: Pick<Member, 'tenantId' | 'memberId' | 'role'>,
): Promise<{ readonly sharedKey: boolean } | undefined> {
  const [waiting] = role === 'admin' ? await tx.query(WAITING, [tenantId, memberId]) : []
  return waiting
}

export interface HandedOver {
  readonly credential: IssuedCredential
  readonly sharedKey: SharedKey | undefined
}

/** Issues what the link of this member hands over, once. The caller has locked the member's row. */
export async function openHandover(tx: Tx, maker: KeyMaker, member: Member): Promise<HandedOver | undefined> {
  const waiting = await waitingHandover(tx, member)
  if (!waiting) return undefined
  const { tenantId, memberId, name } = member
  const credential = await issueCredential(tx, maker, { tenantId, name: `handed over to ${name}` })
  const sharedKey = waiting.sharedKey ? await issueSharedKey(tx, maker, tenantId) : undefined
  await tx.query(OPEN, [tenantId, memberId, credential.credentialId, sharedKey?.kid])
  return { credential, sharedKey }
}
