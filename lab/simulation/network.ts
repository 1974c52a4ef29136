import { EventEmitter } from 'node:events'
import type { ConnectionClass } from '@svc/platform/db/database'
import pg from 'pg'
import type { Chance } from './chance.ts'
import { type Fault, faultText } from './faults.ts'

interface Pending {
  readonly kind: 'connect' | 'query'
  readonly config: pg.QueryConfig
  readonly response: (error: Error | null, result?: pg.QueryResult) => void
}

/** What came of a statement on the server. */
type Outcome = { readonly result: pg.QueryResult } | { readonly error: Error }

interface Place {
  readonly host: string
  readonly port: number
}

const lost = () => new Error('Connection terminated unexpectedly')
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/**
 * The way between the code and PostgreSQL. One connection at a time gets to say what it has to say, chosen by chance,
 * and gets its answers before any other goes on: transactions interleave, and always in the same way for a seed. A row
 * that another transaction holds is told at once (a lock is waited for 1 ms), since nobody lets go of it meanwhile.
 */
export class DatabaseNetwork {
  readonly #place: Place
  /** Connections to the server by database and role; a simulated connection that ends leaves its own for the next. */
  readonly #free = new Map<string, pg.Client[]>()
  #open = new Set<SimulatedClient>()
  readonly #cuts: Promise<void>[] = []
  chance: Chance
  /** The database's wall clock. */
  nowMs: () => number = () => 0
  /** Told of every statement that is sent, in order. */
  trace: (line: string) => void = () => undefined
  /** Called before every statement. */
  choose: (text: string, inBatch: boolean) => Fault | undefined = () => undefined
  /** Time that a slow answer takes. */
  slow: (ms: number) => void = () => undefined
  crashed = false
  statements = 0

  constructor(place: Place, chance: Chance) {
    this.#place = place
    this.chance = chance
  }

  /** To be given to the code in place of `pg.Client`. */
  clientClass(): ConnectionClass {
    return clientClassOf(this)
  }

  get hasPending(): boolean {
    for (const client of this.#open) if (client.pending.length > 0) return true
    return false
  }

  /** A connection that the code under test destroys: nothing else is said before its transaction is rolled back. */
  cutting(cut: Promise<void>): void {
    this.#cuts.push(cut)
  }

  async calm(): Promise<void> {
    await Promise.all(this.#cuts.splice(0))
  }

  opened(client: SimulatedClient): void {
    this.#open.add(client)
  }

  closed(client: SimulatedClient): void {
    this.#open.delete(client)
  }

  /** Lets one connection say all that it has to say, and answers it. */
  async turn(): Promise<void> {
    await this.calm()
    const ready = [...this.#open].filter(({ pending }) => pending.length > 0)
    const client = ready.length === 1 ? ready[0]! : this.chance.pick(ready)
    await client.speak(client.pending.splice(0))
    await this.calm()
  }

  /** A process ends: nothing that it waited for is answered, and the server takes back what was not committed. */
  async crash(): Promise<void> {
    const open = [...this.#open]
    this.#open = new Set()
    for (const client of open) await client.vanish()
  }

  async physical(database: string, role: string): Promise<pg.Client> {
    const known = this.#free.get(`${database} ${role}`)?.pop()
    if (known) return known
    const options = `-c search_path=svc -c lock_timeout=1 -c statement_timeout=30000 -c timezone=UTC`
    const client = new pg.Client({
      ...this.#place,
      database,
      user: role,
      options,
      pipeline: true,
      types: INT8,
    } as pg.ClientConfig)
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  giveBack(database: string, role: string, client: pg.Client): void {
    const key = `${database} ${role}`
    const free = this.#free.get(key) ?? []
    this.#free.set(key, free)
    free.push(client)
  }

  /** Lets go of the connections to a database. */
  async leave(): Promise<void> {
    await this.crash()
    for (const clients of this.#free.values()) for (const client of clients) await client.end()
    this.#free.clear()
  }
}

/** As the service reads them. */
const INT8 = new pg.TypeOverrides()
INT8.setTypeParser(20, BigInt)
INT8.setTypeParser(1016, (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt)))

/** Stands for `pg.Client` as far as `pg.Pool` and the service know it. */
class SimulatedClient extends EventEmitter {
  pending: Pending[] = []
  _queryable = true
  _ending = false
  /** Its server reports no parameters, and its socket has no timer of its own. */
  readonly connection = {
    on: () => undefined,
    stream: {
      destroy: () => this.#network.cutting(this.#cut()),
      setTimeout: () => undefined,
      on: () => undefined,
    },
  }
  readonly #network: DatabaseNetwork
  readonly #database: string
  readonly #role: string
  #real: pg.Client | undefined
  #nowMs = Number.NaN
  #inTransaction = false
  #inBatch = false
  #gone = false

  constructor(network: DatabaseNetwork, config: pg.ClientConfig) {
    super()
    this.#network = network
    this.#database = config.database!
    this.#role = config.user!
    network.opened(this)
  }

  connect(callback: (error: Error | null) => void): void {
    this.pending.push({ kind: 'connect', config: { text: 'connect' }, response: callback })
  }

  ref(): void {}
  unref(): void {}

  query(
    given: string | pg.QueryConfig,
    values?: unknown,
    callback?: Pending['response'],
  ): Promise<unknown> | undefined {
    const config = typeof given === 'string' ? { text: given } : given
    const parameters = Array.isArray(values) ? { ...config, values } : config
    const response = typeof values === 'function' ? (values as Pending['response']) : callback
    if (response) {
      this.#enqueue(parameters, response)
      return undefined
    }
    return new Promise((resolve, reject) => {
      this.#enqueue(parameters, (error, result) => (error ? reject(error) : resolve(result)))
    })
  }

  #enqueue(config: pg.QueryConfig, response: Pending['response']): void {
    if (this.#gone)
      process.nextTick(response, new Error('Client has encountered a connection error and is not queryable'))
    else this.pending.push({ kind: 'query', config, response })
  }

  end(onEnd?: () => void): Promise<void> | undefined {
    this._ending = true
    this.#gone = true
    this.#network.closed(this)
    const done = this.vanish().then(() => void this.emit('end'))
    if (!onEnd) return done
    void done.then(onEnd)
    return undefined
  }

  /** Leaves the server as a connection does that breaks: an open transaction is rolled back. */
  async vanish(): Promise<void> {
    const real = this.#real
    this.#real = undefined
    this.pending = []
    if (!real) return
    if (this.#inTransaction) await real.query('rollback')
    this.#network.giveBack(this.#database, this.#role, real)
  }

  async speak(said: Pending[]): Promise<void> {
    const faults = said.map(({ kind, config: { text } }) =>
      this.#network.choose(kind === 'connect' ? 'connect' : text, this.#inBatch),
    )
    const outcomes: (Outcome | 'cut')[] = []
    if (faults.some(Boolean) || said[0]!.kind === 'connect')
      for (const [i, pending] of said.entries()) {
        outcomes.push(this.#gone ? 'cut' : await this.#say(pending, faults[i]))
        if (this.#network.crashed) return
      }
    // They travel together; the server takes them in this order.
    else outcomes.push(...(await Promise.all(said.map((pending) => this.#say(pending, undefined)))))
    for (const [i, { response: reply }] of said.entries()) {
      const outcome = outcomes[i]!
      if (outcome === 'cut') reply(lost())
      else if ('error' in outcome) reply(outcome.error)
      else reply(null, outcome.result)
    }
  }

  async #say({ kind, config }: Pending, fault: Fault | undefined): Promise<Outcome | 'cut'> {
    this.#network.statements++
    const what = kind === 'connect' ? kind : (config.name ?? config.text.slice(0, 60))
    this.#network.trace(`${what}${fault ? ` !${JSON.stringify(fault)}` : ''}`)
    if (kind === 'connect') return this.#connect(fault)
    if (fault?.kind === 'crash before' || fault?.kind === 'cut before') return this.#break(fault)
    const outcome = await this.#execute(fault?.kind === 'error' ? { text: faultText(fault.code) } : config)
    if (fault?.kind === 'crash after' || fault?.kind === 'cut after') return this.#break(fault)
    if (fault?.kind === 'error' && /^(57P01|08006)$/.test(fault.code)) await this.#cut()
    if (fault?.kind === 'slow') this.#network.slow(fault.ms)
    return fault?.kind === 'slow' && this.#gone ? 'cut' : outcome
  }

  async #connect(fault: Fault | undefined): Promise<Outcome> {
    if (fault?.kind === 'refused') {
      this.#gone = true
      this.#network.closed(this)
      return { error: refused() }
    }
    this.#real = await this.#network.physical(this.#database, this.#role)
    this.#nowMs = Number.NaN
    return { result: undefined as unknown as pg.QueryResult }
  }

  async #break({ kind }: Fault): Promise<'cut'> {
    if (kind.startsWith('crash')) this.#network.crashed = true
    await this.#cut()
    return 'cut'
  }

  async #cut(): Promise<void> {
    if (this.#gone) return
    this.#gone = true
    this._queryable = false
    this.#network.closed(this)
    const real = this.#real
    this.#real = undefined
    if (real) {
      if (this.#inTransaction) await real.query('rollback')
      this.#network.giveBack(this.#database, this.#role, real)
    }
    if (this.#network.crashed) return
    for (const { response: reply } of this.pending.splice(0)) reply(lost())
    if (this.listenerCount('error') > 0) this.emit('error', lost())
  }

  /** Sends it, with the simulated time in place of the server's own. */
  async #execute(config: pg.QueryConfig): Promise<Outcome> {
    const nowMs = this.#network.nowMs()
    const text = inSimulatedTime(config.text)
    const real = this.#real!
    const at = `sim.now = '${new Date(nowMs).toISOString()}'`
    const statements: Promise<pg.QueryResult>[] = []
    if (text.startsWith('begin')) {
      this.#inTransaction = true
      this.#inBatch = text.includes('insert into batches')
      statements.push(real.query({ ...config, text: text.replace(/^(begin[^;]*)/, `$1; set local ${at}`) }))
    } else {
      if (!this.#inTransaction && nowMs !== this.#nowMs) {
        this.#nowMs = nowMs
        statements.push(real.query(`set ${at}`))
      }
      statements.push(real.query({ ...config, text }))
      if (text === 'commit' || text === 'rollback') this.#inTransaction = this.#inBatch = false
    }
    const settled = await Promise.allSettled(statements)
    const last = settled.at(-1)!
    return last.status === 'fulfilled' ? { result: last.value } : { error: last.reason as Error }
  }
}

const rewritten = new Map<string, string>()

function inSimulatedTime(text: string): string {
  let known = rewritten.get(text)
  if (known === undefined) {
    known = text
      .replaceAll(/\b(?:clock_timestamp|statement_timestamp|now)\(\)/g, 'svc.sim_now()')
      .replaceAll(/lock_timeout = \d+/g, 'lock_timeout = 1')
    // Texts of batches hold an id each, and are not worth keeping.
    if (!text.startsWith('begin')) rewritten.set(text, known)
  }
  return known
}

const clientClassOf = (network: DatabaseNetwork): ConnectionClass =>
  class extends SimulatedClient {
    constructor(config: pg.ClientConfig) {
      super(network, config)
    }
  } as unknown as ConnectionClass
