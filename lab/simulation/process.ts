import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import type { Chance } from './chance.ts'

interface Timer {
  readonly id: number
  atMs: number
  readonly everyMs: number | undefined
  readonly ring: () => void
}

const realNow = Date.now.bind(Date)
const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Time and chance of this process, taken over: whatever the code under test asks for the time, for a random number or
 * for a timer comes here, also where it does not go through its context. Real time goes on for `realNow` only.
 */
export class SimulatedProcess {
  /** Milliseconds since the start, which only go forward. */
  monotonicMs = 0
  /** Of the wall clock, to be added to the monotonic one: jumps change it. */
  wallBaseMs = 0
  chance: Chance
  #timers = new Map<number, Timer>()
  #nextTimer = 1
  #busy = 0
  #lastThread: Promise<void> = Promise.resolve()
  readonly #undo: (() => void)[] = []

  constructor(chance: Chance) {
    this.chance = chance
    this.#takeOver()
  }

  /** As after the start of a process: no timers, the wall clock as given. */
  restart(chance: Chance, wallMs: number): void {
    this.chance = chance
    this.monotonicMs = 0
    this.wallBaseMs = wallMs
    this.#timers.clear()
    this.#nextTimer = 1
  }

  wallMs(): number {
    return Math.floor(this.wallBaseMs + this.monotonicMs)
  }

  forgetTimers(): void {
    this.#timers.clear()
  }

  /** Gives time and chance back: what comes after the simulation waits for real things. */
  giveBack(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo()
    syncBuiltinESMExports()
  }

  /** Lets the code run until it waits for nothing but a timer or the database. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet = this.#isBusy() ? 0 : quiet + 1) await immediate()
  }

  /** Whether threads are at work, on cryptography or files. */
  #isBusy(): boolean {
    return (
      this.#busy > 0 || globalThis.process.getActiveResourcesInfo().some((type) => type.startsWith('FSReq'))
    )
  }

  /** Goes to the next timer, if it is due by then, and rings it. */
  ringNext(untilMs = Number.POSITIVE_INFINITY): boolean {
    let next: Timer | undefined
    for (const timer of this.#timers.values())
      if (!next || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.id < next.id)) next = timer
    if (!next || next.atMs > untilMs) return false
    this.monotonicMs = Math.max(this.monotonicMs, next.atMs)
    if (next.everyMs === undefined) this.#timers.delete(next.id)
    else next.atMs = this.monotonicMs + next.everyMs
    next.ring()
    return true
  }

  #set(ms: number, repeats: boolean, ring: () => void): NodeJS.Timeout {
    const id = this.#nextTimer++
    const waitMs = Math.max(1, ms || 0)
    this.#timers.set(id, { id, atMs: this.monotonicMs + waitMs, everyMs: repeats ? waitMs : undefined, ring })
    const handle = {
      id,
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => handle,
      close: () => handle,
      [Symbol.toPrimitive]: () => id,
      [Symbol.dispose]: () => undefined,
    }
    return handle as unknown as NodeJS.Timeout
  }

  readonly #clear = (handle: unknown): void => {
    if (typeof handle === 'object' && handle !== null && 'id' in handle)
      this.#timers.delete((handle as Timer).id)
  }

  #takeOver(): void {
    const set =
      (repeats: boolean) =>
      (ring: (...args: unknown[]) => void, ms: number, ...args: unknown[]) =>
        this.#set(ms, repeats, () => ring(...args))
    this.#replace(globalThis, {
      setTimeout: set(false),
      setInterval: set(true),
      clearTimeout: this.#clear,
      clearInterval: this.#clear,
    })
    this.#replace(Date, { now: () => this.wallMs() })
    // Without arguments it asks the real clock, not `Date.now`.
    const construct = (target: DateConstructor, given: unknown[]): Date =>
      Reflect.construct(target, given.length === 0 ? [this.wallMs()] : given)
    this.#replace(globalThis, { Date: new Proxy(Date, { construct }) })
    this.#replace(performance, { now: () => this.monotonicMs })
    this.#replace(Math, { random: () => this.chance.fraction() })
    this.#replace(timersPromises, {
      setTimeout: (ms: number, value: unknown) =>
        new Promise((resolve) => this.#set(ms, false, () => resolve(value))),
    })
    this.#replace(crypto, {
      randomBytes: (size: number) => this.chance.bytes(size),
      randomUUID: () => {
        const hex = this.chance.bytes(16).toString('hex')
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
      },
    })
    this.#orderThreads()
    syncBuiltinESMExports()
  }

  #replace(owner: object, own: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(own)) {
      const previous = Object.getOwnPropertyDescriptor(owner, name)
      Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable: true })
      this.#undo.push(() =>
        previous ? Object.defineProperty(owner, name, previous) : Reflect.deleteProperty(owner, name),
      )
    }
  }

  /**
   * Work of other threads comes back at real times of its own. What was submitted first gets its result first, and is
   * done with it before the next one does; nothing else goes on meanwhile.
   */
  #orderThreads(): void {
    const subtle = Object.getPrototypeOf(crypto.webcrypto.subtle) as object
    const inTurn = this.#inTurn
    for (const [name, { value: real }] of Object.entries(Object.getOwnPropertyDescriptors(subtle)))
      if (name !== 'constructor' && typeof real === 'function')
        this.#replace(subtle, {
          [name](this: unknown, ...args: unknown[]) {
            return inTurn(real.apply(this, args) as Promise<unknown>)
          },
        })
  }

  readonly #inTurn = async (result: Promise<unknown>): Promise<unknown> => {
    const previous = this.#lastThread
    let leave = (): void => undefined
    this.#lastThread = new Promise((resolve) => (leave = resolve))
    this.#busy++
    await Promise.allSettled([previous, result])
    await immediate()
    setImmediate(() => {
      this.#busy--
      leave()
    })
    return result
  }
}

/** Real milliseconds since 1970. */
export const realTimeMs = realNow
