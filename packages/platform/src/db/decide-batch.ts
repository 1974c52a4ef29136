import { Failure } from '@svc/contract/errors'
import type { ByTenant } from '@svc/kernel/by-tenant'
import { type Moment, timeOf } from '@svc/kernel/time'
import type { CommandAct } from '../audit.ts'
import type { BatchTx } from './batch-tx.ts'
import {
  type CommandSpec,
  type Entry,
  isHeld,
  type Outcome,
  type PreparedCommand,
  type Refusal,
} from './command-spec.ts'
import type { FirstResponse, HttpResponse, KnownResponses, ResponseKey } from './idempotency-store.ts'

/** What came of the commands of a batch, and what is to be written. */
export interface Decided<C extends PreparedCommand, D> {
  readonly outcomes: Map<Entry<C>, Outcome>
  readonly decisions: D[]
  readonly refusals: Refusal<C>[]
  readonly keep: { key: ResponseKey; response: HttpResponse }[]
  readonly audits: CommandAct[]
}

/** Decides on all commands of a batch, in their order; each sees what the ones before have changed. */
export function decideAll<C extends PreparedCommand, S, D>(
  spec: CommandSpec<C, S, D>,
  state: ByTenant<S>,
  entries: readonly Entry<C>[],
  known: KnownResponses,
  { heldTenants }: BatchTx,
  at: Moment,
): Decided<C, D> {
  const result: Decided<C, D> = {
    outcomes: new Map(),
    decisions: [],
    refusals: [],
    keep: [],
    audits: [],
  }
  for (const entry of entries) {
    const { command, retry, isSettled } = entry
    // Its caller got the response that nothing happened.
    if (isSettled) continue
    try {
      const first = retry && known.repeat(retry)
      if (first) {
        result.outcomes.set(entry, { result: first.response })
        if (spec.refusals?.useUp && isEncryptedAgain(first, retry)) {
          spec.refusals.useUp(state.of(command.tenantId), command)
          const failure = new Failure('encrypted_request_replayed')
          result.refusals.push({ command, failure, now: timeOf(command.tenantId, at) })
        }
        continue
      }
      if (isHeld(entry, heldTenants)) continue
      const slice = state.of(command.tenantId)
      const now = spec.byServiceTime ? at.now : timeOf(command.tenantId, at)
      const decision = decideOne(spec, slice, command, now, result.refusals)
      const made = (entry.resultOf as (decision: D) => unknown)(decision)
      spec.apply?.(slice, decision)
      result.decisions.push(decision)
      result.outcomes.set(entry, { result: made })
      const waitingFor = spec.waitingFor?.(decision)
      result.audits.push(...actsOf(command, decision, waitingFor))
      if (retry) {
        const response = made as HttpResponse
        known.add({ key: retry, response })
        if (waitingFor === undefined) result.keep.push({ key: retry, response })
      }
    } catch (error) {
      result.outcomes.set(entry, { failure: error as Error })
    }
  }
  return result
}

/** What the audit has of a decision; of one that only asks for something, who asks for that. */
function actsOf({ audit }: PreparedCommand, decision: unknown, waitingFor: string | undefined): CommandAct[] {
  if (!audit) return []
  const { action: _, details: _of, ...by } = audit
  if (waitingFor !== undefined) return [{ ...by, target: waitingFor }]
  const target = typeof audit.target === 'string' ? audit.target : audit.target(decision as never)
  return [{ ...audit, target }]
}

/** Whether a repeat under its key came in another JWE than the first request: that JWE counts as used from now on. */
const isEncryptedAgain = ({ key: first }: FirstResponse, { ciphertextHash }: ResponseKey): boolean =>
  ciphertextHash !== null &&
  (first.ciphertextHash === null || Buffer.compare(first.ciphertextHash, ciphertextHash) !== 0)

/** Decides on a command; a failure that is final is kept. */
function decideOne<C extends PreparedCommand, S, D>(
  spec: CommandSpec<C, S, D>,
  state: S,
  command: C,
  now: Date,
  refusals: Refusal<C>[],
): D {
  try {
    return spec.decide(state, command, now)
  } catch (error) {
    if (error instanceof Failure && spec.refusals?.isFinal(state, command, error))
      refusals.push({ command, failure: error, now })
    throw error
  }
}
