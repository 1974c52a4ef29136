import { type ErrorCode, fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { invariant, required } from '@svc/kernel/invariant'
import type { Command, CommandTools, MayWait } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import type { Approval } from './approvals.ts'
import {
  type ApprovalsOfBatch,
  approvalsOfBatch,
  countAlone,
  useApprovals,
  writeRequests,
} from './approvals-of-batch.ts'
import type { Posting, PostingKind } from './posting.ts'
import type { StoredArgs } from './stored-args.ts'

/** When a person who commands it needs a second one (decision R10). */
export interface ApprovalPolicy<Args, D> {
  readonly kinds: readonly PostingKind[]
  /** What waits is stored with these, and run with them; absent: it never waits. */
  readonly args?: StoredArgs<NoInfer<Args>>
  /** `undefined`: it moves nothing, it is a repeat, or a signed message says it. */
  readonly moves: (decision: NoInfer<D>) => Posting | undefined
  /** How running it may fail, also later. */
  readonly failures: readonly ErrorCode[]
  /** Tenants command it too, with their own money: that counts for no person. */
  readonly isOfTenants?: true
  /** Of what never waits: it is refused above the limit. Says who does it instead. */
  readonly instead?: string
}

/** A decision that a second person approves first: nothing was posted. */
export class WaitingApproval {
  readonly approval: Approval
  /** Whether it was requested before. */
  readonly isRepeat: boolean

  constructor(approval: Approval, isRepeat: boolean) {
    this.approval = approval
    this.isRepeat = isRepeat
  }
}

/** The decision where no person gave the command, or where what they do never waits. */
export function carriedOut<D>(outcome: D | WaitingApproval): D {
  invariant(!(outcome instanceof WaitingApproval), 'only what a person commands waits for another one')
  return outcome
}

interface Approving {
  readonly tools: CommandTools
  readonly args: unknown
}

/** Names the approval that allows it. */
export interface Approvable {
  readonly approvalId?: string | undefined
}

type Prepared<C> = C & Approvable & { readonly approving: Approving }

interface State<S> {
  readonly inner: S
  readonly approvals: ApprovalsOfBatch | undefined
}

export type MoneyCommand<Args, C extends PreparedCommand, S, D> = Command<
  Args & Approvable,
  Prepared<C>,
  State<S>,
  D | WaitingApproval
> &
  MayWait<Args & Approvable, D, WaitingApproval> & { readonly approval: ApprovalPolicy<Args, D> }

/** Who commands it, as the audit names them; `undefined`: a tenant, a rail or the service itself. */
export const personOf = ({ audit }: PreparedCommand): string | undefined =>
  audit?.member === undefined ? audit?.actor : undefined

/**
 * A command that moves money. A person runs it alone as long as what they moved of the tenant within 24 hours is within the
 * limit, and within ten times of it for all tenants; else the decision is the approval that waits. Callers have no part in it.
 */
export function moneyCommand<Args, C extends PreparedCommand, S, D extends { readonly command: C }>(
  definition: Command<Args, C, S, D> & { readonly approval: ApprovalPolicy<Args, D> },
): MoneyCommand<Args, C, S, D> {
  const { approval: policy, prepare, apply, refusals } = definition
  const postingOf = postingBy(policy)
  const wrapped = {
    ...definition,
    mayWait: {},
    prepare: (tools: CommandTools) => withArguments(prepare(tools), tools),
    async lock(tx: BatchTx, commands: readonly Prepared<C>[]): Promise<ByTenant<State<S>>> {
      const ofPersons = commands.flatMap((command) => askedBy(command))
      const [inner, approvals] = await Promise.all([
        definition.lock(tx, commands),
        ofPersons.length === 0 ? undefined : approvalsOfBatch(tx, ofPersons, policy.kinds),
      ])
      return new ByTenant((tenantId) => ({ inner: inner.of(tenantId), approvals }))
    },
    decide({ inner, approvals }: State<S>, command: Prepared<C>, now: Date): D | WaitingApproval {
      const decision = definition.decide(inner, command, now)
      const posting = postingOf(decision)
      if (!posting || !approvals) return decision
      if (command.approvalId !== undefined) {
        requireFitting(approvals.byId.get(command.approvalId), posting)
        return decision
      }
      if (!needsSecond(approvals, command, posting)) return decision
      return policy.args
        ? waiting(approvals, command, posting, policy.args)
        : fail('approval_required', policy.instead === undefined ? {} : { description: policy.instead })
    },
    ...(apply && {
      apply({ inner, approvals }: State<S>, decision: D | WaitingApproval) {
        if (decision instanceof WaitingApproval) return approvals?.addOpen(decision.approval)
        apply(inner, decision)
        const posting = postingOf(decision)
        const person = personOf(decision.command)
        const { approvalId, tenantId } = decision.command as Prepared<C>
        if (posting && person !== undefined && approvalId === undefined)
          approvals?.addMoved(tenantId, person, posting.amountPaise)
      },
    }),
    ...(refusals && { refusals: ofInner(refusals) }),
    waitingFor: (decision: D | WaitingApproval) =>
      decision instanceof WaitingApproval ? decision.approval.approvalId : undefined,
    save(tx: Writes, decisions: readonly (D | WaitingApproval)[]) {
      const asked = decisions.filter((decision) => decision instanceof WaitingApproval)
      const done = decisions.filter((decision): decision is D => !(decision instanceof WaitingApproval))
      writeRequests(
        tx,
        asked.flatMap(({ approval, isRepeat }) => (isRepeat ? [] : [approval])),
      )
      if (done.length === 0) return
      savePostings(tx, done, postingOf)
      definition.save(tx, done)
    },
  }
  // The types of what wraps a command of any kind: `apply` is there exactly where it was.
  return wrapped as unknown as MoneyCommand<Args, C, S, D>
}

/** What a decision posts, as far as the policy is about it. */
const postingBy =
  <Args, D extends { readonly command: PreparedCommand }>(policy: ApprovalPolicy<Args, D>) =>
  (decision: D): Posting | undefined => {
    const isOfTenant = policy.isOfTenants && personOf(decision.command) === undefined
    return isOfTenant ? undefined : policy.moves(decision)
  }

/** Prepares as the command does, and keeps the arguments for what may wait. */
const withArguments =
  <Args, C>(preparing: (args: Args) => C | Promise<C>, tools: CommandTools) =>
  (args: Args & Approvable): Prepared<C> | Promise<Prepared<C>> => {
    const ready = preparing(args)
    const { approvalId } = args
    const withArgs = (prepared: C): Prepared<C> => ({ ...prepared, approvalId, approving: { tools, args } })
    return ready instanceof Promise ? ready.then(withArgs) : withArgs(ready)
  }

type Refusals<C extends PreparedCommand, S> = NonNullable<Command<never, C, S, never>['refusals']>

const ofInner = <C extends PreparedCommand, S>(refusals: Refusals<C, S>): Refusals<C, State<S>> => ({
  ...refusals,
  isFinal: ({ inner }, command, failure) => refusals.isFinal(inner, command, failure),
  useUp: ({ inner }, command) => refusals.useUp?.(inner, command),
})

/** What the batch needs to know of a command, if a person gives it. */
function askedBy(command: Prepared<PreparedCommand>) {
  const { approvalId, approving, tenantId } = command
  const person = personOf(command)
  return person === undefined
    ? []
    : [{ command, tenantId, person, approvalId, newId: approving.tools.newId('apv') }]
}

/** Before the journals: the database requires the approval of each, or that it counts among what its person posted. */
function savePostings<D extends { readonly command: PreparedCommand }>(
  tx: Writes,
  decisions: readonly D[],
  postingOf: (decision: D) => Posting | undefined,
): void {
  const posted = decisions.flatMap((decision) => {
    const posting = postingOf(decision)
    const { approvalId, tenantId } = decision.command as Prepared<PreparedCommand>
    const person = personOf(decision.command) ?? 'service'
    return posting ? [{ ...posting, tenantId, approvalId, person }] : []
  })
  useApprovals(
    tx,
    posted.flatMap(({ approvalId, ...rest }) => (approvalId === undefined ? [] : [{ ...rest, approvalId }])),
  )
  countAlone(
    tx,
    posted.filter(({ approvalId }) => approvalId === undefined),
  )
}

function needsSecond(
  { allTenantsPaise, limitPaise, movedBy, movedInAllBy }: ApprovalsOfBatch,
  command: PreparedCommand,
  { amountPaise, beforePaise = 0n, isUndo = false }: Posting,
): boolean {
  const person = personOf(command)
  if (limitPaise === null || person === undefined) return false
  const today = movedBy(command.tenantId, person)
  if (isUndo || amountPaise + (today > beforePaise ? today : beforePaise) > limitPaise) return true
  return allTenantsPaise !== null && amountPaise + movedInAllBy(person) > allTenantsPaise
}

const isSame = (approval: Approval, { amountPaise, facts }: Posting): boolean =>
  approval.amountPaise === amountPaise && canonicalJson(approval.request) === canonicalJson(facts)

/** What the second person saw is what is posted. */
function requireFitting(approval: Approval | undefined, posting: Posting): void {
  const isIt =
    approval?.outcome === 'APPROVED' &&
    approval.journalId === null &&
    approval.kind === posting.kind &&
    approval.reference === posting.reference &&
    isSame(approval, posting)
  if (!isIt) fail('approval_outdated')
}

function waiting(
  { idOf, now, openOf }: ApprovalsOfBatch,
  command: Prepared<PreparedCommand>,
  posting: Posting,
  { encode }: StoredArgs<unknown>,
): WaitingApproval {
  const { amountPaise, facts, kind, reason, reference } = posting
  const { approving, tenantId } = command
  const open = openOf(tenantId, kind, reference)
  if (open) return isSame(open, posting) ? new WaitingApproval(open, true) : fail('approval_open')
  const approval: Approval = {
    tenantId,
    approvalId: idOf(command),
    kind,
    amountPaise,
    reference,
    request: facts,
    arguments: encode(approving.args),
    reason,
    requestedBy: required(personOf(command), 'a person requests approvals'),
    requestedAt: now,
    expiresAt: new Date(now.getTime() + approving.tools.config.APPROVAL_HOURS * 3_600_000),
    outcome: null,
    decidedBy: null,
    decidedAt: null,
    journalId: null,
  }
  return new WaitingApproval(approval, false)
}
