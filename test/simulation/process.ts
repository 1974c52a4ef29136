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

  /** Lets the code run until it waits for something that is not chance, a timer or the database. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet = this.#busy > 0 ? 0 : quiet + 1) await immediate()
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
    Object.assign(globalThis, {
      setTimeout: set(false),
      setInterval: set(true),
      clearTimeout: this.#clear,
      clearInterval: this.#clear,
    })
    Date.now = () => this.wallMs()
    Object.defineProperty(performance, 'now', { value: () => this.monotonicMs })
    Math.random = () => this.chance.fraction()
    Object.assign(timersPromises, {
      setTimeout: (ms: number, value: unknown) =>
        new Promise((resolve) => this.#set(ms, false, () => resolve(value))),
    })
    Object.assign(crypto, {
      randomBytes: (size: number) => this.chance.bytes(size),
      randomUUID: () => {
        const hex = this.chance.bytes(16).toString('hex')
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
      },
    })
    this.#countThreads()
    syncBuiltinESMExports()
  }

  /** Work of other threads comes back at a real time of its own: it is waited for before anything else goes on. */
  #countThreads(): void {
    const count = (change: number) => (this.#busy += change)
    const subtle = Object.getPrototypeOf(crypto.webcrypto.subtle) as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >
    for (const name of [
      'sign',
      'verify',
      'importKey',
      'encrypt',
      'decrypt',
      'deriveBits',
      'digest',
      'wrapKey',
      'unwrapKey',
    ]) {
      const real = subtle[name]!
      subtle[name] = async function (this: unknown, ...args: unknown[]) {
        count(1)
        try {
          return await real.apply(this, args)
        } finally {
          count(-1)
        }
      }
    }
  }
}

/** Real milliseconds since 1970. */
export const realTimeMs = realNow
