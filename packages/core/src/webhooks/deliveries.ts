import { newId } from '@svc/contract/id-kinds'
import { Loop } from '@svc/platform/loop'
import { NameLookups } from '@svc/platform/name-lookups'
import type { CoreServices } from '@svc/platform/services'
import { DeliveryStore, type Lease } from './delivery-store.ts'
import { urlRule } from './endpoint.ts'
import { EndpointRun, type RunTools } from './endpoint-run.ts'
import { OutcomeWriter } from './outcome-writer.ts'
import { signingKeys } from './signing.ts'

/** Longest time until a retry that is due, or the work of a process that died, is seen; relayed events wake at once. */
const TICK_MS = 200
const LEASE_MS = 10_000
/** Endpoints that one process serves at a time. */
const ENDPOINTS_MAX = 1_000
/** An endpoint stays with its process for a while after its last event. */
const LINGER_MS = 3_000
const DRAIN_MS = 3_000

/**
 * Delivers events to webhook endpoints (decision E2). Each process leases endpoints that have work, so the order of an
 * endpoint's first attempts is in one hand; each endpoint has connections, time-outs and a queue of its own, so one that
 * hangs delays no other.
 */
export class Deliveries {
  readonly #services: CoreServices
  readonly #store: DeliveryStore
  readonly #writer: OutcomeWriter
  readonly #tools: RunTools
  readonly #holder: string
  readonly #runs = new Map<string, { readonly run: EndpointRun; busyAtMs: number }>()
  readonly #loop: Loop
  /** When the leases that were returned last run out at the earliest, in `performance.now()` time. */
  #leasedUntilMs = 0
  /** The database's time when it was read last, and the same instant in `performance.now()` time. */
  #read = { databaseMs: 0, atMs: 0 }

  constructor(services: CoreServices) {
    this.#services = services
    this.#store = new DeliveryStore(services.database, services.keyring)
    this.#writer = new OutcomeWriter(this.#store, services.log)
    this.#holder = newId('whp', Date.now(), services.random)
    const { sandbox, mayReach } = urlRule(services.config)
    // Only there can names of the machine lead to an address that webhooks may reach.
    const ownNames = sandbox || services.config.WEBHOOK_ALLOWED_NETWORKS.length > 0
    this.#tools = {
      services,
      writer: this.#writer,
      keys: () => signingKeys(services.keyring),
      mayReach,
      names: new NameLookups({ ownNames }),
      leased: () => performance.now() < this.#leasedUntilMs,
      now: () => this.#now(),
      onRoom: () => this.wake(),
    }
    const work = () => this.#run()
    this.#loop = new Loop({ name: 'deliver_webhooks', everyMs: TICK_MS, work, atStart: true }, services)
  }

  start(): void {
    this.#loop.start()
  }

  /** There may be something to deliver. */
  wake(): void {
    this.#loop.wake()
  }

  /** Lets attempts in progress finish for a while, then releases every endpoint. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    await Promise.all([...this.#runs.values()].map(({ run }) => run.close(DRAIN_MS)))
    this.#writer.close()
    const { clock } = this.#services
    await this.#store.lease(this.#holder, [], LEASE_MS, clock.offsetMs(), 0).catch(() => undefined)
  }

  /** By the database's clock (decision X35): every attempt follows a lease, which reads it. */
  #now(): number {
    const { databaseMs, atMs } = this.#read
    return Math.floor(databaseMs + performance.now() - atMs) + this.#services.clock.offsetMs()
  }

  async #run(): Promise<void> {
    try {
      await this.#tick()
    } catch (error) {
      // Another process may have leased the endpoints meanwhile.
      if (performance.now() > this.#leasedUntilMs) await this.#release(new Set())
      throw error
    }
  }

  async #tick(): Promise<void> {
    const clockOffsetMs = this.#services.clock.offsetMs()
    const startedAtMs = performance.now()
    const keep = [...this.#runs].filter(
      ([, { run, busyAtMs }]) => !run.idle || startedAtMs - busyAtMs < LINGER_MS,
    )
    const most = ENDPOINTS_MAX - keep.length
    const { leases, now } = await this.#store.lease(
      this.#holder,
      keep.map(([id]) => id),
      LEASE_MS,
      clockOffsetMs,
      most,
    )
    this.#read = { databaseMs: now.getTime(), atMs: performance.now() }
    this.#leasedUntilMs = startedAtMs + LEASE_MS / 2
    await this.#release(new Set(leases.map(({ endpointId }) => endpointId)))
    if (this.#loop.stopping.aborted) return
    await this.#adopt(leases)
    await this.#load(clockOffsetMs)
  }

  /** Lets go of the endpoints that are not ours any more. */
  async #release(ours: ReadonlySet<string>): Promise<void> {
    for (const [endpointId, { run }] of this.#runs) {
      if (ours.has(endpointId)) continue
      this.#runs.delete(endpointId)
      await run.close(0)
    }
  }

  async #adopt(leases: readonly Lease[]): Promise<void> {
    const changed = leases.filter(
      ({ endpointId, modifiedAtMs }) => this.#runs.get(endpointId)?.run.modifiedAtMs !== modifiedAtMs,
    )
    const targets = await this.#store.targets(changed)
    for (const lease of changed) {
      const target = targets.get(lease.endpointId)
      const known = this.#runs.get(lease.endpointId)
      if (!target) continue
      if (known) known.run.change(lease, target)
      else
        this.#runs.set(lease.endpointId, {
          run: new EndpointRun(this.#tools, lease, target),
          busyAtMs: performance.now(),
        })
    }
  }

  async #load(clockOffsetMs: number): Promise<void> {
    // What waited for the lease to be prolonged.
    for (const { run } of this.#runs.values()) run.pump()
    const wanted = [...this.#runs.values()].flatMap(({ run }) => run.wanted() ?? [])
    const due = await this.#store.due(wanted, clockOffsetMs)
    for (const [endpointId, deliveries] of due) {
      const served = this.#runs.get(endpointId)
      if (!served) continue
      served.busyAtMs = performance.now()
      served.run.add(deliveries)
    }
  }
}
