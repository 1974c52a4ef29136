import type { Failure } from '@svc/contract/errors'
import type { ByTenant } from '@svc/kernel/by-tenant'
import type { CommandAudit } from '../audit.ts'
import type { Span } from '../tracing.ts'
import type { BatchTx } from './batch-tx.ts'
import type { Writes } from './database.ts'
import type { ResponseKey } from './idempotency-store.ts'

/** A command that is ready for its batch: it carries its ids and random values, so that deciding needs none. */
export interface PreparedCommand {
  readonly tenantId: string
  /** Whose rows it writes besides, such as a notice that belonged to the platform until now; of a bank's file, of many. */
  readonly otherTenantId?: string | readonly string[] | undefined
  /** Put on record in the same transaction, if the command is carried out. */
  readonly audit?: CommandAudit
}

/**
 * How one kind of command is carried out: lock → decide → save, for many commands at once. `S` is what is locked for
 * one tenant: the rules of a command see no other tenant's rows, whatever else is in the batch.
 */
export type CommandSpec<C extends PreparedCommand, S, D> = Steps<C, S, D> & (Batched<S, D> | Alone)

/** Many commands share a batch. */
interface Batched<S, D> {
  /** Most commands of one batch, where each is large. */
  readonly batchMax?: number
  /** Folds a decision into the state, so that later commands of the same batch see it. */
  apply(state: S, decision: D): void
}

/** One that is rare has a batch of its own: nothing else is decided by its state. */
interface Alone {
  readonly batchMax: 1
  readonly apply?: undefined
}

interface Steps<C extends PreparedCommand, S, D> {
  readonly name: string
  /** Carries out what the bank or the network signed, unless an operator commands it: on the login of the rails. */
  readonly isSigned?: true
  /** Reads and locks every row that the commands need, set-based and in order of id. */
  lock(tx: BatchTx, commands: readonly C[]): Promise<ByTenant<S>>
  /** Whether it lives by the service's time, as attempts to deliver webhooks do, and not by the tenant's (decision X27). */
  readonly byServiceTime?: true
  /** Pure. Throws a `Failure` when the command cannot be taken. `now`: the tenant's, by the database's clock after locking. */
  decide(state: S, command: C, now: Date): D
  /**
   * Id of what a decision only asks for, such as the approval of a second person: that is on record, not the command, and
   * no response is kept for repeats, which may be carried out later.
   */
  waitingFor?(decision: D): string | undefined
  /** Writes all decisions with a handful of set-based statements, at once: COMMIT travels with them. */
  save(tx: Writes, decisions: readonly D[]): void
  /** What is kept of final failures of `decide`, in the same transaction: of requests that count as used by them. */
  readonly refusals?: {
    isFinal(state: S, command: C, failure: Failure): boolean
    /** Folds a repeat that was encrypted again into the state; its JWE is kept as used. */
    useUp?(state: S, command: C): void
    save(tx: Writes, refusals: readonly Refusal<C>[]): void
  }
}

/** A command that failed for good. */
export interface Refusal<C extends PreparedCommand> {
  readonly command: C
  readonly failure: Failure
  readonly now: Date
}

/** One command with what its caller waits for. */
export interface Entry<C extends PreparedCommand = PreparedCommand> {
  readonly command: C
  readonly tenantId: string
  /** Under which its result, then a response, is kept for repeats. */
  readonly retry: ResponseKey | undefined
  /** What its caller gets for the decision on it; computed before COMMIT. */
  readonly resultOf: (decision: never) => unknown
  /** When its caller gets a response, whatever becomes of the command; in `performance.now()` time. */
  readonly deadlineMs: number
  /** Its caller has a response. A command that has not been decided by then is not carried out. */
  readonly isSettled: boolean
  readonly settle: (outcome: Outcome) => void
  /** While tracing is on, of a command whose caller is in a trace. */
  readonly span?: Span | undefined
}

export const unsettled = <E extends Entry>(entries: readonly E[]): E[] =>
  entries.filter(({ isSettled }) => !isSettled)

/** Whether a tenant whose rows the command needs has rows that another transaction holds. */
export const isHeld = (
  { tenantId, command: { otherTenantId } }: Entry,
  heldTenants: ReadonlySet<string>,
): boolean => [tenantId, otherTenantId ?? []].flat().some((id) => heldTenants.has(id))

export type Outcome = { readonly result: unknown } | { readonly failure: Error }
