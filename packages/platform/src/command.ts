import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '@svc/contract/config'
import { Failure } from '@svc/contract/errors'
import type { IdPrefix } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import type { TenantClocks } from '@svc/kernel/time'
import type { CommandAudit } from './audit.ts'
import type { Keyring } from './crypto/keyring.ts'
import { isOfOperator } from './db/batch.ts'
import type { CommandSpec, PreparedCommand } from './db/command-spec.ts'
import { CommitQueue, type CommitQueueServices } from './db/commit-queue.ts'
import type { Database } from './db/database.ts'
import type { HttpResponse, ResponseKey } from './db/idempotency-store.ts'
import type { BoundedWaits } from './deadlines.ts'
import type { Log } from './log.ts'

/** What a command may use before its transaction: everything that is not pure, and no transport. */
export interface CommandTools {
  readonly config: Config
  readonly database: Database
  readonly keyring: Keyring
  /** Rules go by the tenant's time; that of ids is drawn with them. */
  readonly clock: TenantClocks
  /** An id of the real time, also where a tenant's clock is ahead. */
  readonly newId: (prefix: IdPrefix) => string
  readonly random: RandomBytes
  readonly log: Log
}

/**
 * Something the product can do, for every caller: the API, the console, the command line, bulk jobs, the sandbox.
 * `Args` is its input; the outcome is the decision `D`. It knows no HTTP, envelope or idempotency header.
 */
export type Command<Args, C extends PreparedCommand, S, D> = CommandSpec<C, S, D> & {
  /** Prepares the arguments: slow pure work, lookups and everything drawn by chance, before the transaction. */
  readonly prepare: (tools: CommandTools) => (args: Args) => Promise<C> | C
}

/** Infers the types of a command. */
export const command = <Args, C extends PreparedCommand, S, D>(
  definition: Command<Args, C, S, D>,
): Command<Args, C, S, D> => definition

/** A command as its callers see it. */
// oxlint-disable-next-line typescript/no-explicit-any -- what is prepared and locked is the command's own affair
export type AnyCommand<Args, D> = Command<Args, any, any, D>

/** The same of one whose decision, where a person gives it, may be `W`: what waits for another person first. */
export interface MayWait<Args, D, W> {
  readonly mayWait: {
    /** Never present: carries the types to callers. */
    readonly outcome?: (args: Args) => { readonly done: D; readonly waits: W }
  }
}

/** How a response is made of a decision, and kept for repeats. */
export interface Responding<D, Args, W = never> {
  readonly reply: (decision: D | W) => HttpResponse
  /** The caller's idempotency key; without one nothing is kept. */
  readonly retry: ResponseKey | undefined
  /** Who acts on a tenant's behalf. */
  readonly audit?: ((args: Args) => CommandAudit<D>) | undefined
  /** When the caller gets a response at the latest, in `performance.now()` time; by default after COMMAND_TIMEOUT_MS. */
  readonly deadlineMs?: number | undefined
}

/** A command in one composition of the service: one commit queue for all callers. */
export interface OpenCommand<Args, D, W = never> {
  /** Resolves with the decision once it is committed; rejects with a `Failure`. */
  run(args: Args): Promise<D>
  /** `audit`: who acts on a tenant's behalf, for whom it may wait. */
  run(args: Args, audit: CommandAudit<D>): Promise<D | W>
  /** The same, with the response; a repeat of its key gets the first response. */
  respond(args: Args | Promise<Args>, responding: Responding<D, Args, W>): Promise<HttpResponse>
  /** How many were submitted so far, by all callers. */
  submitted(): number
  /** Resolves once no command has been submitted, has waited or was in progress for so long, in milliseconds. */
  quiet(forMs: number): Promise<void>
}

/** The caller waits no longer, and nothing was begun that could still happen (decision R8). */
export const tooLate = (): Failure => new Failure('temporarily_unavailable', { retryAfterSeconds: 1 })

/** Every command of one composition of the service: the only way to a lock. */
export class Commands {
  readonly #tools: CommandTools
  readonly #queues: CommitQueueServices
  readonly #waits: BoundedWaits
  readonly #enter: EnterQueue | undefined
  readonly #open = new Map<unknown, unknown>()
  #submitted = 0

  constructor(tools: CommandTools, queues: CommitQueueServices, waits: BoundedWaits, enter?: EnterQueue) {
    this.#tools = tools
    this.#queues = queues
    this.#waits = waits
    this.#enter = enter
  }

  open<Args, D, W>(command: MayWait<Args, D, W>): OpenCommand<Args, D, W>
  open<Args, D>(command: AnyCommand<Args, D>): OpenCommand<Args, D>
  open<Args, D>(command: AnyCommand<Args, D> | MayWait<Args, D, unknown>): OpenCommand<Args, D> {
    const known = this.#open.get(command)
    if (known) return known as OpenCommand<Args, D>
    const onSubmit = () => void this.#submitted++
    const whole = command as AnyCommand<Args, D>
    const context = { queues: this.#queues, waits: this.#waits, enter: this.#enter, onSubmit }
    const opened = openCommand(whole, this.#tools, context)
    this.#open.set(command, opened)
    return opened
  }

  /** How many commands of all kinds were submitted so far. */
  submitted(): number {
    return this.#submitted
  }
}

/** Called before a prepared command enters the queue of that name, which it does once what is returned resolves. */
export type EnterQueue = (name: string) => Promise<void> | undefined

interface QueueContext {
  readonly queues: CommitQueueServices
  readonly waits: BoundedWaits
  readonly enter: EnterQueue | undefined
  readonly onSubmit: () => void
}

function openCommand<Args, C extends PreparedCommand, S, D>(
  command: Command<Args, C, S, D>,
  tools: CommandTools,
  { queues, waits, enter, onSubmit }: QueueContext,
): OpenCommand<Args, D> {
  const queue = new CommitQueue<C, S, D>(command, queues)
  // What operators do with a signed message is on their own login, so never in a batch with the rail's.
  let operators: CommitQueue<C, S, D> | undefined
  const queueOf = (prepared: C): CommitQueue<C, S, D> =>
    command.isSigned && isOfOperator({ command: prepared })
      ? (operators ??= new CommitQueue<C, S, D>({ ...command, name: `${command.name}ByOperators` }, queues))
      : queue
  const prepare = command.prepare(tools)
  let submitted = 0
  const count = () => {
    submitted++
    onSubmit()
  }
  const { commandTimeoutMs } = queues.limits
  const preparing = (args: Args, audit?: (args: Args) => CommandAudit<D>): Promise<C> | C => {
    const ready = prepare(args)
    if (!audit) return ready
    const withAudit = (prepared: C): C => ({ ...prepared, audit: audit(args) })
    return ready instanceof Promise ? ready.then(withAudit) : withAudit(ready)
  }
  const prepared = (
    args: Args | Promise<Args>,
    deadlineMs: number,
    audit?: (args: Args) => CommandAudit<D>,
  ): Promise<C> | C => {
    const work =
      args instanceof Promise ? args.then((resolved) => preparing(resolved, audit)) : preparing(args, audit)
    return waits.within(deadlineMs, work, tooLate)
  }
  return {
    async run(args: Args, audit?: CommandAudit<D>): Promise<D> {
      count()
      const deadlineMs = performance.now() + commandTimeoutMs
      const ready = await prepared(args, deadlineMs, audit && (() => audit))
      if (enter) await enter(command.name)
      return queueOf(ready).submit(ready, deadlineMs)
    },
    async respond(args, { reply, retry, audit, deadlineMs = performance.now() + commandTimeoutMs }) {
      count()
      const ready = await prepared(args, deadlineMs, audit)
      if (enter) await enter(command.name)
      return queueOf(ready).respond(ready, reply, retry, deadlineMs)
    },
    submitted: () => submitted,
    async quiet(forMs) {
      for (let before = -1; before !== submitted; await sleep(forMs)) {
        await queue.drain()
        await operators?.drain()
        before = submitted
      }
    },
  }
}
