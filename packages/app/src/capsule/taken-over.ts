import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { Chance } from './chance.ts'

/** A time that stands still until it is set. */
export interface StandingTime {
  nowMs: number
}

/** A piece of work, such as a request: what it asks for the time or for chance comes from here, whatever runs beside it. */
export class Turn {
  readonly time: StandingTime
  /** What the service draws through its context: ids, secrets. */
  readonly service: Chance
  /** What is drawn from the process itself. */
  readonly process: Chance
  /** Of `Math.random`, mostly for pauses. */
  readonly pauses: Chance
  /** Of a request, its number. */
  readonly request: number | undefined
  /** Of an encrypted response, what was encrypted. */
  plaintext: Buffer | undefined

  constructor(time: StandingTime, seed: string, name: string, request?: number) {
    this.time = time
    this.service = new Chance(seed, `${name} service`)
    this.process = new Chance(seed, `${name} process`)
    this.pauses = new Chance(seed, `${name} pauses`)
    this.request = request
  }
}

const turns = new AsyncLocalStorage<Turn>()

export const currentTurn = (): Turn | undefined => turns.getStore()
export const inTurn = <T>(turn: Turn, work: () => T): T => turns.run(turn, work)

let users = 0
let undo: (() => void)[] = []

/**
 * Time and chance of this process, taken over for work inside of a turn, also where the code asks the process itself.
 * Returns what gives them back.
 */
export function takeOver(): () => void {
  if (users++ === 0) replaceAll()
  let isGivenBack = false
  return () => {
    if (isGivenBack) return
    isGivenBack = true
    if (--users > 0) return
    for (const each of undo.splice(0).reverse()) each()
    syncBuiltinESMExports()
  }
}

function replaceAll(): void {
  const real = {
    Date: globalThis.Date,
    now: Date.now.bind(Date),
    random: Math.random.bind(Math),
    randomBytes: crypto.randomBytes,
    randomUUID: crypto.randomUUID,
  }
  replace(Date, { now: () => currentTurn()?.time.nowMs ?? real.now() })
  // Without arguments it asks the real clock, not `Date.now`.
  const construct = (target: DateConstructor, given: unknown[], asked: NewableFunction): Date =>
    Reflect.construct(target, given.length === 0 ? [Date.now()] : given, asked) as Date
  replace(globalThis, { Date: new Proxy(real.Date, { construct }) })
  replace(Math, { random: () => currentTurn()?.pauses.fraction() ?? real.random() })
  replace(crypto, {
    // With a callback it is left alone: nothing of the service draws that way.
    randomBytes: (size: number, ...rest: [never]) =>
      rest.length > 0
        ? real.randomBytes(size, ...rest)
        : (currentTurn()?.process.bytes(size) ?? real.randomBytes(size)),
    randomUUID: (...rest: [never]) => currentTurn()?.process.uuid() ?? real.randomUUID(...rest),
  })
  syncBuiltinESMExports()
}

function replace(owner: object, own: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(own)) {
    const previous = Object.getOwnPropertyDescriptor(owner, name)!
    Object.defineProperty(owner, name, { ...previous, value })
    undo.push(() => Object.defineProperty(owner, name, previous))
  }
}
