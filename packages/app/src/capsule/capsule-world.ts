import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Config, readConfig } from '@svc/contract/config'
import { Secret } from '@svc/kernel/secret'
import { clockOf } from '@svc/kernel/time'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import type { DatabaseAddress } from '@svc/platform/db/connection-options'
import type { Log } from '@svc/platform/log'
import { encryptedResponses } from '@svc/server/http/encryption'
import { App } from '../app.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { type CapsuleManifest, type CapsuleRequest, type CapsuleResponse, isOfCapsule } from './capsule.ts'
import { send } from './exchange.ts'
import { StandingClient, StandingClock } from './standing-database.ts'
import { currentTurn, inTurn, type StandingTime, Turn, takeOver } from './taken-over.ts'
import { Turnstile } from './turnstile.ts'

export type WorldOrigin = Pick<
  CapsuleManifest,
  'baseUrl' | 'seed' | 'startedAtMs' | 'masterKeys' | 'settings'
>

export interface WorldOptions {
  readonly origin: WorldOrigin
  /** A database of its own, which is filled with the snapshot. */
  readonly address: DatabaseAddress
  readonly dataDir: string
  readonly snapshotFile: string
  readonly log: Log
}

export interface CarryOut {
  readonly requests: readonly CapsuleRequest[]
  /** When a response begins. */
  readonly onResponse?: (number: number, response: IncomingMessage) => void
}

const notePlaintext = (plaintext: unknown): void => {
  const turn = currentTurn()
  if (turn) turn.plaintext = plaintext as Buffer
}

function configOf({ baseUrl, settings, masterKeys }: WorldOrigin, dataDir: string): Config {
  const own = Object.entries(settings).filter(([name]) => isOfCapsule(name))
  return readConfig({
    ...Object.fromEntries(own),
    SVC_MODE: 'sandbox',
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL: baseUrl,
    DATA_DIR: dataDir,
    SVC_MASTER_KEY: masterKeys,
  })
}

/**
 * The service on a snapshot, with a time that stands still between requests and chance from a seed: the same requests
 * in the same rounds have the same responses, wherever and whenever they are carried out.
 */
export class CapsuleWorld {
  readonly #app: App
  readonly #clock: StandingClock
  readonly #time: StandingTime
  readonly #seed: string
  readonly #port: number
  readonly #giveBack: () => void
  readonly #turnstiles: Map<number, Turnstile>
  readonly #turns: TurnsOfConnections
  readonly #end = new AbortController()
  #rounds = 0

  private constructor(opened: {
    app: App
    clock: StandingClock
    time: StandingTime
    seed: string
    giveBack: () => void
    turnstiles: Map<number, Turnstile>
    turns: TurnsOfConnections
  }) {
    this.#app = opened.app
    this.#clock = opened.clock
    this.#time = opened.time
    this.#seed = opened.seed
    this.#giveBack = opened.giveBack
    this.#turnstiles = opened.turnstiles
    this.#turns = opened.turns
    this.#port = (opened.app.http.server.address() as AddressInfo).port
  }

  static async open({ origin, address, dataDir, snapshotFile, log }: WorldOptions): Promise<CapsuleWorld> {
    const config = configOf(origin, dataDir)
    const masterKeys = new MasterKeys(origin.masterKeys.split(',').map((key) => new Secret(key)))
    await restoreBackup({ address, masterKeys, file: snapshotFile, replace: true, keepsAccess: true })
    const clock = await StandingClock.install(address)
    await clock.set(origin.startedAtMs)
    const time = { nowMs: origin.startedAtMs }
    const turnstiles = new Map<number, Turnstile>()
    const turns = new TurnsOfConnections()
    const giveBack = takeOver()
    subscribe(encryptedResponses.name, notePlaintext)
    const start = async (): Promise<App> => {
      const app = await App.open({
        config,
        address,
        masterKeys,
        log,
        clock: clockOf(() => time.nowMs),
        random: (size) => (currentTurn() ?? starting).service.bytes(size),
        Client: StandingClient,
        enterQueue: (name) => {
          const request = currentTurn()?.request
          return request === undefined ? undefined : turnstiles.get(request)?.pass(request, name)
        },
      })
      serveInTurn(app, turns)
      await app.listen()
      return app
    }
    const starting = new Turn(time, origin.seed, 'start')
    try {
      const app = await inTurn(starting, start)
      return new CapsuleWorld({ app, clock, time, seed: origin.seed, giveBack, turnstiles, turns })
    } catch (error) {
      giveBack()
      await clock.close()
      throw error
    }
  }

  /** While it is recorded, what the service sends reaches its receivers. */
  startSenders(): void {
    inTurn(new Turn(this.#time, this.#seed, 'senders'), () => this.#app.startSenders())
  }

  /** Moves the clocks, does what is due, then carries the requests out together. */
  async carryOut(atMs: number, { requests, onResponse }: CarryOut): Promise<CapsuleResponse[]> {
    this.#time.nowMs = atMs
    await this.#clock.set(atMs)
    const due = new Turn(this.#time, this.#seed, `due ${++this.#rounds}`)
    await inTurn(due, () => this.#app.doBackground(atMs))
    const turnstile = requests.length > 1 ? new Turnstile(requests.map(({ number }) => number)) : undefined
    return Promise.all(requests.map((request) => this.#send(request, turnstile, onResponse)))
  }

  async #send(
    request: CapsuleRequest,
    turnstile: Turnstile | undefined,
    onResponse: CarryOut['onResponse'],
  ): Promise<CapsuleResponse> {
    const { number } = request
    const turn = new Turn(this.#time, this.#seed, `request ${number}`, number)
    if (turnstile) this.#turnstiles.set(number, turnstile)
    let from = 0
    try {
      const response = await send(request, {
        port: this.#port,
        onConnect: (fromPort) => {
          from = fromPort
          this.#turns.set(fromPort, turn)
        },
        signal: this.#end.signal,
        ...(onResponse && { onResponse: (begun) => onResponse(number, begun) }),
      })
      return { ...response, ...(turn.plaintext && { plaintext: turn.plaintext }) }
    } finally {
      this.#turns.delete(from)
      this.#turnstiles.delete(number)
      turnstile?.ended(number)
    }
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#app.drain()
    await this.#clock.close()
    unsubscribe(encryptedResponses.name, notePlaintext)
    this.#giveBack()
  }
}

/** The turns of connections, each of which has one request; the server may hear of a connection before its sender does. */
class TurnsOfConnections {
  readonly #known = new Map<number, Turn>()
  readonly #waiting = new Map<number, (turn: Turn) => void>()

  set(port: number, turn: Turn): void {
    this.#known.set(port, turn)
    this.#waiting.get(port)?.(turn)
    this.#waiting.delete(port)
  }

  delete(port: number): void {
    this.#known.delete(port)
  }

  when(port: number, work: (turn: Turn) => void): void {
    const turn = this.#known.get(port)
    if (turn) work(turn)
    else this.#waiting.set(port, work)
  }
}

/** Serves each connection in the turn of the request that it carries. */
function serveInTurn({ http: { server } }: App, turns: TurnsOfConnections): void {
  const emit = server.emit.bind(server)
  server.emit = (name: string, ...args: unknown[]): boolean => {
    if (name !== 'connection') return emit(name, ...args)
    turns.when((args[0] as Socket).remotePort ?? 0, (turn) => inTurn(turn, () => emit(name, ...args)))
    return true
  }
}
