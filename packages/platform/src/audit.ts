import type { AuditedBy, Writes } from './db/database.ts'
import { statement } from './db/statement.ts'

/** One action to put on record, in the transaction that does it; without an actor it is the transaction's own. */
export interface AuditEntry extends Partial<AuditedBy> {
  /** Noun and what was done, such as `card.blocked`. */
  readonly action: string
  readonly target: string
  readonly tenantId?: string
  /** Never a secret, never a person's data. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

/** The same of a command that was carried out. */
export interface CommandAct extends Omit<AuditEntry, 'action'> {
  /** Absent where the tables put every change on record themselves: then it only says who makes it. */
  readonly action?: string
  /** Of a member of the tenant, by name: entered by the service's own login, for its tenant alone. */
  readonly member?: string
}

/** The same before it is carried out: its target may only be known from the decision. */
export interface CommandAudit<D = never> extends Omit<CommandAct, 'target'> {
  readonly target: string | ((decision: D) => string)
}

const APPEND = statement(
  'audit_append',
  `select append_audit(coalesce($1, nullif(current_setting('svc.actor', true), ''), 'role ' || session_user), $2, $3, $4,
     coalesce($5, nullif(current_setting('svc.request_id', true), '')), $6::jsonb, clock_timestamp())`,
)
const APPEND_OF_MEMBER = statement(
  'audit_append_of_member',
  'select append_member_audit($1, $2, $3, $4, $5, $6::jsonb, clock_timestamp())',
)
const ACTED = statement('audit_acted', `select set_config('svc.acted', $1, true)`)

/** The last thing that a transaction does before its COMMIT: the chain has one writer at a time. */
export function recordAudit(tx: Writes, entries: readonly AuditEntry[]): void {
  for (const { actor, action, target, tenantId, requestId, details } of entries)
    tx.write(APPEND, [actor, action, target, tenantId, requestId, JSON.stringify(details ?? {})])
}

/** The same of what members of a tenant do; the transaction is of that tenant. */
function recordOfMembers(tx: Writes, acts: readonly CommandAct[]): void {
  for (const { member, action, target, tenantId, requestId, details } of acts)
    tx.write(APPEND_OF_MEMBER, [member, action, target, tenantId, requestId, JSON.stringify(details ?? {})])
}

/** The same of the commands of a batch. */
export function recordActs(tx: Writes, acts: readonly CommandAct[]): void {
  const isEntry = (act: CommandAct): act is AuditEntry => act.action !== undefined
  const ofMembers = (act: CommandAct): boolean => act.member !== undefined
  const actors = acts.filter((act) => !isEntry(act))
  if (actors.length > 0)
    tx.write(ACTED, [
      JSON.stringify(
        Object.fromEntries(actors.map(({ target, actor, requestId }) => [target, { actor, requestId }])),
      ),
    ])
  recordAudit(
    tx,
    acts.filter(isEntry).filter((act) => !ofMembers(act)),
  )
  recordOfMembers(tx, acts.filter(ofMembers))
}
