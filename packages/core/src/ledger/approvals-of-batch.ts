import { required } from '@svc/kernel/invariant'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { type Approval, approvals } from './approvals.ts'
import type { Posting, PostingKind } from './posting.ts'

const LIMIT = statement<{ now: Date; limitPaise: bigint | null; allTenantsPaise: bigint | null }>(
  'approval_limit_of_batch',
  `select clock_timestamp() as now, above_paise as "limitPaise", limit_of_all_tenants() as "allTenantsPaise"
   from approval_limit`,
)
interface Moved {
  readonly tenantId: string
  readonly person: string
  readonly paise: bigint
}
const MOVED = statement<Moved>(
  'one_person_postings_of_batch',
  `select o.tenant_id as "tenantId", o.person, sum(o.amount_paise)::bigint as paise
   from one_person_postings o
   where (o.tenant_id, o.person) in (select * from unnest($1::text[], $2::text[]))
     and o.posted_at > clock_timestamp() - interval '24 hours'
   group by o.tenant_id, o.person`,
)
const MOVED_OF_ALL = statement<Pick<Moved, 'person' | 'paise'>>(
  'one_person_postings_of_all_tenants',
  'select w.person, posted_alone(w.person) as paise from unnest($1::text[]) as w (person)',
)
const APPROVALS = statement<Approval>(
  'approvals_of_batch',
  `select ${approvals.columns} from approvals p
   where p.tenant_id = any ($1) and (p.outcome is null and p.expires_at > clock_timestamp() and p.kind = any ($2)
     or p.approval_id = any ($3))`,
)
const REQUEST = statement(
  'approvals_request',
  `select request_approval(w.tenant, w.id, w.kind, w.amount, w.reference, w.facts::jsonb, w.args::jsonb, w.reason, w.person,
     w.hours)
   from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
     $10::int[]) as w (tenant, id, kind, amount, reference, facts, args, reason, person, hours)`,
)
const USE = statement(
  'approvals_use',
  `update approvals p set journal_id = n.journal_id
   from unnest($1::text[], $2::text[], $3::text[]) as n (tenant_id, approval_id, journal_id)
   where p.tenant_id = n.tenant_id and p.approval_id = n.approval_id and p.outcome = 'APPROVED' and p.journal_id is null`,
)
// In this order: two batches with postings of the same persons then wait for each other in one direction.
const COUNT = statement(
  'one_person_postings_insert',
  `insert into one_person_postings (tenant_id, journal_id, person, kind, amount_paise)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     as w (tenant_id, journal_id, person, kind, amount_paise)
   order by w.person, w.tenant_id`,
)

/** A command that a person gives. */
interface Asked {
  readonly command: PreparedCommand
  readonly tenantId: string
  readonly person: string
  /** The approval that allows it. */
  readonly approvalId: string | undefined
  /** That of its request, if it waits. */
  readonly newId: string
}

const keyOf = (...parts: readonly string[]): string => parts.join(' ')

/** What decides which commands of a batch wait for a second person; folded forward as they are decided. */
export interface ApprovalsOfBatch {
  /** For one tenant, and for all together. */
  readonly limitPaise: bigint | null
  readonly allTenantsPaise: bigint | null
  readonly now: Date
  /** By id, those that commands name. */
  readonly byId: ReadonlyMap<string, Approval>
  readonly idOf: (command: PreparedCommand) => string
  /** What the person moved of the tenant within 24 hours without a second person. */
  readonly movedBy: (tenantId: string, person: string) => bigint
  /** The same of all tenants. */
  readonly movedInAllBy: (person: string) => bigint
  readonly addMoved: (tenantId: string, person: string, amountPaise: bigint) => void
  readonly openOf: (tenantId: string, kind: PostingKind, reference: string) => Approval | undefined
  readonly addOpen: (approval: Approval) => void
}

/**
 * Reads them. Another transaction may be posting for the same person: the database counts again when the posting is
 * written, and the batch is then decided once more.
 */
export async function approvalsOfBatch(
  tx: BatchTx,
  asked: readonly Asked[],
  kinds: readonly PostingKind[],
): Promise<ApprovalsOfBatch> {
  const [[limit], sums, ofAll, known] = await Promise.all([
    tx.query(LIMIT),
    tx.query(
      MOVED,
      columns(
        asked,
        ({ tenantId }) => tenantId,
        ({ person }) => person,
      ),
    ),
    tx.query(MOVED_OF_ALL, [[...new Set(asked.map(({ person }) => person))]]),
    tx.query(APPROVALS, [
      asked.map(({ tenantId }) => tenantId),
      kinds,
      asked.flatMap(({ approvalId }) => approvalId ?? []),
    ]),
  ])
  const { allTenantsPaise, limitPaise, now } = required(limit, 'there is one row of the limit')
  const moved = new Map(sums.map(({ tenantId, person, paise }) => [keyOf(tenantId, person), paise]))
  const movedInAll = new Map(ofAll.map(({ person, paise }) => [person, paise]))
  const open = new Map(
    known
      .filter(({ outcome }) => outcome === null)
      .map((each) => [keyOf(each.tenantId, each.kind, each.reference), each]),
  )
  const ids = new Map(asked.map(({ command, newId }) => [command, newId]))
  const movedBy = (tenantId: string, person: string) => moved.get(keyOf(tenantId, person)) ?? 0n
  const movedInAllBy = (person: string) => movedInAll.get(person) ?? 0n
  return {
    limitPaise,
    allTenantsPaise,
    now,
    byId: new Map(known.map((each) => [each.approvalId, each])),
    idOf: (command) => required(ids.get(command), 'a person gives the command'),
    movedBy,
    movedInAllBy,
    addMoved(tenantId, person, amountPaise) {
      moved.set(keyOf(tenantId, person), movedBy(tenantId, person) + amountPaise)
      movedInAll.set(person, movedInAllBy(person) + amountPaise)
    },
    openOf: (tenantId, kind, reference) => open.get(keyOf(tenantId, kind, reference)),
    addOpen: (approval) =>
      void open.set(keyOf(approval.tenantId, approval.kind, approval.reference), approval),
  }
}

/** Enters what waits for a second person. */
export function writeRequests(tx: Writes, requests: readonly Approval[]): void {
  if (requests.length === 0) return
  tx.write(
    REQUEST,
    columns(
      requests,
      ({ tenantId }) => tenantId,
      ({ approvalId }) => approvalId,
      ({ kind }) => kind,
      ({ amountPaise }) => amountPaise,
      ({ reference }) => reference,
      ({ request }) => JSON.stringify(request),
      (approval) => JSON.stringify(approval.arguments),
      ({ reason }) => reason,
      ({ requestedBy }) => requestedBy,
      ({ requestedAt, expiresAt }) => (expiresAt.getTime() - requestedAt.getTime()) / 3_600_000,
    ),
  )
}

type Used = Pick<Posting, 'journalId'> & { readonly tenantId: string; readonly approvalId: string }

/** Names the journals that approvals allow, before these are written: the database requires it. */
export function useApprovals(tx: Writes, used: readonly Used[]): void {
  if (used.length === 0) return
  tx.write(
    USE,
    columns(
      used,
      ({ tenantId }) => tenantId,
      ({ approvalId }) => approvalId,
      ({ journalId }) => journalId,
    ),
  )
}

type Counted = Posting & { readonly tenantId: string; readonly person: string }

/** Counts postings among what their persons posted, likewise. */
export function countAlone(tx: Writes, counted: readonly Counted[]): void {
  if (counted.length === 0) return
  tx.write(
    COUNT,
    columns(
      counted,
      ({ tenantId }) => tenantId,
      ({ journalId }) => journalId,
      ({ person }) => person,
      ({ kind }) => kind,
      ({ amountPaise }) => amountPaise,
    ),
  )
}
