import { createHash } from 'node:crypto'
import { base32 } from '@svc/kernel/ids'
import { rfc3339 } from '@svc/kernel/time'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { bytes, instant, nullable, type RowOf, table, text, textOf, texts } from '@svc/platform/db/table'
import { Type } from 'typebox'
import {
  NOTICE_REASONS,
  type QuarantineReason,
  type StatedField,
  UNREAD_REASONS,
} from './quarantine-reason.ts'
import type { NoticeFlag, NoticeKind } from './read-notice.ts'

export const NOTICE_STATUSES = ['QUARANTINED', 'ASSIGNED', 'DISMISSED', 'DUPLICATE', 'IGNORED'] as const
type NoticeStatus = (typeof NOTICE_STATUSES)[number]

/** Signed notices that are no payment by themselves (decision Q11). */
export const railNotices = table('rail_notices', 'n', ['tenantId', 'noticeId'], {
  tenantId: text,
  noticeId: text,
  body: bytes,
  status: textOf<NoticeStatus>(),
  reason: nullable(textOf<QuarantineReason>()),
  /** Which field is the reason, as the notice names it, and what it states. */
  field: nullable(text),
  detail: nullable(text),
  utr: nullable(text),
  /** The payment that it repeats, contradicts or became. */
  paymentId: nullable(text),
  /** Of a transfer: the card account that it is about, or was assigned to. */
  cardAccountId: nullable(text),
  flags: texts<NoticeFlag>(),
  receivedAt: instant,
  assignedAt: nullable(instant),
  assignedBy: nullable(text),
  /** Why an operator ended it without effect. */
  dismissal: nullable(text),
})
export type RailNotice = RowOf<typeof railNotices>

export const noticeDigest = (body: Uint8Array): Buffer => createHash('sha256').update(body).digest()

/** The same bytes are the same notice, however often the bank sends them; over two rails they are two notices. */
function noticeIdOf(body: Buffer, scope: string): string {
  const digest = noticeDigest(scope === '' ? body : Buffer.concat([Buffer.from(`${scope}\n`), body]))
  return `rnt_${base32(digest.subarray(0, 16)).toLowerCase()}`
}

/** Ids of a notice that came over the route of this kind: as one of it, and as one for another route. */
export const noticeIdsOf = (body: Buffer, kind: NoticeKind): string[] => {
  const rail = kind === 'transfer' ? 'bank' : ''
  return [noticeIdOf(body, rail), noticeIdOf(body, `${rail} ${kind} wrong_route`)]
}

const KIND_FLAGS = {
  refund_notice: 'refund',
  dispute_notice: 'dispute',
  transfer_notice: 'transfer',
  settlement_notice: 'settlement',
} as const

/** The route that a notice was sent to. */
const kindOf = (flags: readonly string[]): NoticeKind =>
  Object.entries(KIND_FLAGS).find(([flag]) => flags.includes(flag))?.[1] ?? 'credit'

const KEPT = statement<Pick<RailNotice, 'noticeId' | 'flags' | 'reason'>>(
  'directory_notices',
  'select notice_id as "noticeId", flags, reason from directory_notices($1)',
)

/** A notice that was kept for these reasons is not of the kind that its route is for. */
const isNotOfRoute = (reason: QuarantineReason | null): boolean =>
  reason === 'wrong_route' || UNREAD_REASONS.has(reason)

/**
 * Which of these bodies the route of another kind has received and could read. A notice that does not state its kind is
 * of the route that received it first (decision Q11).
 */
export async function receivedElsewhere(
  tx: BatchTx,
  bodies: readonly Buffer[],
  kind: NoticeKind,
): Promise<ReadonlySet<Buffer>> {
  if (bodies.length === 0) return new Set()
  const idsOf = (body: Buffer) => [noticeIdOf(body, ''), noticeIdOf(body, 'bank')]
  const kept = await tx.query(KEPT, [bodies.flatMap(idsOf)])
  const elsewhere = new Set(
    kept.flatMap(({ noticeId, flags, reason }) =>
      !isNotOfRoute(reason) && kindOf(flags) !== kind ? [noticeId] : [],
    ),
  )
  return new Set(bodies.filter((body) => idsOf(body).some((id) => elsewhere.has(id))))
}

interface NotNew extends StatedField {
  readonly tenantId: string
  readonly body: Buffer
  /** Absent: it repeats in other words what is recorded. */
  readonly reason: QuarantineReason | null
  readonly utr?: string | null | undefined
  readonly paymentId?: string | null | undefined
  readonly cardAccountId?: string | null | undefined
  readonly flags: readonly NoticeFlag[]
  /** The same bytes may come over two rails: they are two notices. */
  readonly rail?: string
}

/** A signed notice that is nothing new: for an operator to read, or beside what it repeats. */
export const notNew = (
  {
    tenantId,
    body,
    reason,
    field = null,
    detail = null,
    utr = null,
    paymentId = null,
    cardAccountId = null,
    flags,
    rail = '',
  }: NotNew,
  receivedAt: Date,
): RailNotice => ({
  tenantId,
  // On the route that it is for, the same bytes are a notice of their own.
  noticeId: noticeIdOf(body, reason === 'wrong_route' ? `${rail} ${kindOf(flags)} ${reason}` : rail),
  body,
  status: reason === null ? 'DUPLICATE' : reason === 'ignored' ? 'IGNORED' : 'QUARANTINED',
  reason,
  field,
  detail,
  utr,
  paymentId,
  cardAccountId,
  flags,
  receivedAt,
  assignedAt: null,
  assignedBy: null,
  dismissal: null,
})

const KEEP = statement(
  'rail_notices_keep',
  `insert into rail_notices (tenant_id, notice_id, body, status, reason, utr, payment_id, flags, received_at,
     card_account_id, field, detail)
   select k.tenant_id, k.notice_id, k.body, k.status, k.reason, k.utr, k.payment_id, k.flags::text[], k.received_at,
     k.card_account_id, k.field, k.detail
   from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
     $9::timestamptz[], $10::text[], $11::text[], $12::text[]) as k (tenant_id, notice_id, body, status, reason, utr,
     payment_id, flags, received_at, card_account_id, field, detail)
   order by k.tenant_id, k.notice_id
   on conflict (tenant_id, notice_id) do nothing`,
)

const IS_NEW: ReadonlySet<NoticeStatus> = new Set<NoticeStatus>(['QUARANTINED', 'DUPLICATE', 'IGNORED'])

/** Stores notices, each once: those that operators have ended are stored. */
export function storeNotices(tx: Writes, kept: readonly RailNotice[]): void {
  const notices = kept.filter(({ status }) => IS_NEW.has(status))
  if (notices.length === 0) return
  tx.write(
    KEEP,
    columns(
      notices,
      (n) => n.tenantId,
      (n) => n.noticeId,
      (n) => n.body,
      (n) => n.status,
      (n) => n.reason,
      (n) => n.utr,
      (n) => n.paymentId,
      (n) => `{${n.flags.join(',')}}`,
      (n) => n.receivedAt,
      (n) => n.cardAccountId,
      (n) => n.field,
      (n) => n.detail,
    ),
  )
}

const ASSIGN = statement(
  'rail_notices_assign',
  `with assigned as (
     update rail_notices n set status = 'ASSIGNED', payment_id = a.payment_id, assigned_at = $4, assigned_by = a.actor,
       card_account_id = a.card_account_id
     from unnest($1::text[], $2::text[], $3::text[], $5::text[], $6::text[])
       as a (notice_id, payment_id, actor, tenant_id, card_account_id)
     where n.tenant_id = a.tenant_id and n.notice_id = a.notice_id and n.status = 'QUARANTINED'
     returning 1)
   select require_count(count(*), cardinality($1), 'a notice was assigned meanwhile') from assigned`,
)

export interface Assignment {
  /** Of the notice; the payment may be another tenant's. */
  readonly noticeTenantId: string
  readonly noticeId: string
  readonly actor: string
  /** What it became: a payment, or money on a card account. */
  readonly paymentId: string | null
  readonly cardAccountId?: string | null
}

/** Of a command that waits for a second person. */
export const StoredAssignment = Type.Object({
  noticeTenantId: Type.String(),
  noticeId: Type.String(),
  actor: Type.String(),
})

/** Marks quarantined notices as assigned; a second assignment of one fails the transaction. */
export function assignNotices(tx: Writes, assignments: readonly Assignment[], now: Date): void {
  if (assignments.length === 0) return
  tx.write(ASSIGN, [
    ...columns(
      assignments,
      (a) => a.noticeId,
      (a) => a.paymentId,
      (a) => a.actor,
    ),
    now,
    assignments.map((a) => a.noticeTenantId),
    assignments.map((a) => a.cardAccountId ?? null),
  ])
}

/** The response to a notice that is no payment. */
export const NoticeReceipt = Type.Object(
  {
    noticeId: Type.String(),
    status: Type.Enum(NOTICE_STATUSES),
    reason: Type.Optional(Type.Enum(NOTICE_REASONS)),
    field: Type.Optional(
      Type.String({ description: 'Which field is the reason: a path of names, as the notice has them' }),
    ),
    detail: Type.Optional(Type.String({ description: 'What the field states: `"USD" is not INR`' })),
  },
  { title: 'RailNotice', additionalProperties: false },
)

/** The record that operators see. */
export const NoticeRecord = Type.Object(
  {
    ...NoticeReceipt.properties,
    utr: Type.Optional(Type.String({ description: 'The bank’s reference, where it can be read' })),
    paymentId: Type.Optional(Type.String({ description: 'The payment that it contradicts, or became' })),
    cardAccountId: Type.Optional(
      Type.String({ description: 'Of a transfer: the card account that it is about, or was assigned to' }),
    ),
    flags: Type.Array(Type.String()),
    body: Type.String({ description: 'The notice as the bank signed it' }),
    receivedOn: Type.String(),
    assignedOn: Type.Optional(Type.String({ description: 'When it was assigned or dismissed' })),
    assignedBy: Type.Optional(Type.String()),
    dismissal: Type.Optional(Type.String({ description: 'Why an operator ended it without effect' })),
  },
  { title: 'NoticeRecord', additionalProperties: false },
)

export const noticeReceiptToWire = ({ noticeId, status, reason, field, detail }: RailNotice) => ({
  noticeId,
  status,
  reason: reason ?? undefined,
  field: field ?? undefined,
  detail: detail ?? undefined,
})

export const noticeToWire = (notice: RailNotice, timeZone: string) => ({
  ...noticeReceiptToWire(notice),
  utr: notice.utr ?? undefined,
  paymentId: notice.paymentId ?? undefined,
  cardAccountId: notice.cardAccountId ?? undefined,
  flags: notice.flags,
  body: notice.body.toString('utf8'),
  receivedOn: rfc3339(notice.receivedAt, timeZone),
  assignedOn: notice.assignedAt ? rfc3339(notice.assignedAt, timeZone) : undefined,
  assignedBy: notice.assignedBy ?? undefined,
  dismissal: notice.dismissal ?? undefined,
})
