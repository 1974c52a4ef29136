import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { authenticators, knownTenant } from './access/authenticate.ts'
import { sealKeys } from './access/seal-keys.ts'
import { BulkWorker } from './cards/bulk-worker.ts'
import { CoinSweep } from './coins/expire-coins.ts'
import type { Config } from './config.ts'
import { fail } from './errors.ts'
import { WEBHOOKS } from './event-records.ts'
import { inPieces, type RandomBytes } from './kernel/ids.ts'
import { type Clock, systemClock } from './kernel/time.ts'
import { OPERATIONS } from './operations.ts'
import { AuditAnchors } from './operator/audit-anchors.ts'
import { mountConsole } from './operator/mount-console.ts'
import { RequestLog } from './operator/request-log.ts'
import { Keyring } from './platform/crypto/keyring.ts'
import type { MasterKeys } from './platform/crypto/master-keys.ts'
import { type ConnectionClass, Database, type DatabaseAddress } from './platform/db/database.ts'
import { watchEpoch } from './platform/db/epoch.ts'
import { keepHouse } from './platform/db/housekeeping.ts'
import type { LaneServices } from './platform/db/lane.ts'
import { StoredAnswers } from './platform/db/stored-answers.ts'
import { mountOperations } from './platform/http/mount.ts'
import type { Services } from './platform/http/operation.ts'
import { serveReference } from './platform/http/reference.ts'
import { type Authenticator, buildServer, type ServerOptions } from './platform/http/server.ts'
import type { Log } from './platform/log.ts'
import { openMetrics } from './platform/metrics.ts'
import { VERSION } from './platform/package.ts'
import { railAuthenticator } from './qr-codes/authenticate-rail.ts'
import { keepExpiring } from './qr-codes/expire-qr-codes.ts'
import { provokeFailures } from './sandbox/provoke.ts'
import { UpiSwitch } from './sandbox/upi-switch.ts'
import { Deliveries } from './webhooks/deliveries.ts'
import { Relay } from './webhooks/relay.ts'
import { eventStreams } from './webhooks/stream-events.ts'

export interface AppOptions {
  readonly config: Config
  readonly address: DatabaseAddress
  readonly masterKeys: MasterKeys
  /** For a new database, which needs one. */
  readonly rsaKey?: Promise<Buffer>
  readonly log: Log
  readonly clock?: Clock
  readonly random?: RandomBytes
  /** How connections to the database are made; the simulation gives its own. */
  readonly Client?: ConnectionClass
}

/** How each kind of caller proves itself, for the reference. */
export const SECURITY_SCHEMES = {
  merchant: { type: 'http', scheme: 'bearer', description: 'Token of `POST /api/v0/merchant/token`' },
  partner: { type: 'http', scheme: 'bearer', description: 'Token of `POST /oauth/token`' },
  tenant: { type: 'http', scheme: 'bearer', description: 'Token of a merchant or of a partner' },
  partnerWithId: {
    type: 'http',
    scheme: 'bearer',
    description: 'Token of `POST /oauth/token`, with the `partnerId` header',
  },
  partnerSession: {
    type: 'http',
    scheme: 'bearer',
    description:
      'Token of `POST /oauth/token`, with the `partnerId` header and the `SVCSESSION` cookie of that answer',
  },
  rail: {
    type: 'apiKey',
    in: 'header',
    name: 'x-rail-signature',
    description: 'HMAC-SHA-256 over time and body',
  },
}

const INSIDE = 'x-svc-inside'

/** A service that is put together but does not listen yet: composition root of the program, the CLI and the tests. */
export class App {
  readonly http: FastifyInstance
  readonly services: Services
  readonly #database: Database
  readonly #requestLog: RequestLog
  readonly #auditAnchors: AuditAnchors
  readonly #serverOptions: ServerOptions
  readonly #upiSwitch: UpiSwitch | undefined
  readonly coinSweep: CoinSweep
  readonly #bulkWorker: BulkWorker
  readonly #stopHousekeeping: () => void
  readonly #stopRefreshing: () => void
  readonly #deliveries: Deliveries
  readonly #relay: Relay
  #stopExpiring: (() => Promise<void>) | undefined
  /** Says that requests should go elsewhere, and answers those that come all the same. */
  #leaving = false
  #draining = false
  /** Requests to ourselves name it: they belong to ones that were accepted, so they are carried out while the service drains. */
  readonly #inside = randomUUID()
  #stopWatching: (() => void) | undefined
  #publicUrl = ''

  private constructor(
    { config, log, clock = systemClock, random = inPieces(randomBytes) }: AppOptions,
    database: Database,
    keyring: Keyring,
  ) {
    const metrics = openMetrics()
    const lanes: LaneServices = {
      database,
      answers: new StoredAnswers(keyring),
      clock,
      log,
      metrics,
      limits: { commandTimeoutMs: config.COMMAND_TIMEOUT_MS, tenantQueueMax: config.TENANT_QUEUE_MAX },
      open: new Set(),
    }
    this.#database = database
    this.services = {
      config,
      database,
      keyring,
      clock,
      random,
      log,
      metrics,
      lanes,
      publicUrl: () => this.#publicUrl,
      seals: sealKeys(keyring, database),
      isLeaving: () => this.#leaving,
      selfCall: async ({ method, path, headers, body }) => {
        const own = { ...headers, [INSIDE]: this.#inside }
        const answer = await this.http.inject({
          method,
          url: path,
          headers: own,
          ...(body && { payload: body }),
        })
        return { status: answer.statusCode, body: answer.body }
      },
    }
    this.#requestLog = new RequestLog(this.services, OPERATIONS)
    this.#auditAnchors = new AuditAnchors(this.services)
    this.#serverOptions = this.#options()
    this.http = buildServer(this.#serverOptions)
    if (config.SVC_MODE === 'sandbox') provokeFailures(this.http)
    this.coinSweep = new CoinSweep(this.services)
    this.#upiSwitch = config.SVC_MODE === 'sandbox' ? new UpiSwitch(this.services) : undefined
    this.#bulkWorker = new BulkWorker(this.services)
    this.#stopHousekeeping = keepHouse(database, clock, log, config.IDEMPOTENCY_HOURS)
    this.#stopRefreshing = keyring.keepFresh(log)
    this.#deliveries = new Deliveries(this.services)
    this.#relay = new Relay(this.services, () => this.#deliveries.wake())
  }

  /** Opens the keyring on a migrated database and mounts every operation of the mode. */
  static async open(options: AppOptions): Promise<App> {
    const { address, config, log, masterKeys, rsaKey, Client } = options
    const database = new Database(address, config.DATABASE_POOL_SIZE, log, { Client })
    try {
      const app = new App(options, database, await Keyring.open(database, masterKeys, rsaKey))
      await app.#mount()
      return app
    } catch (error) {
      await database.close()
      throw error
    }
  }

  #options(): ServerOptions {
    const whose = knownTenant(this.services)
    const byHeaders = Object.entries(authenticators(this.services)).map(
      ([name, authenticate]): [string, Authenticator] => [name, { needs: 'headers', authenticate, whose }],
    )
    return {
      services: this.services,
      authenticators: {
        ...Object.fromEntries(byHeaders),
        rail: { needs: 'body', ...railAuthenticator(this.services) },
      },
      admit: ({ headers }) => {
        if (this.#draining && headers[INSIDE] !== this.#inside)
          fail('temporarily_unavailable', {
            description: 'The service is shutting down',
            retryAfterSeconds: 1,
          })
      },
      answered: this.#requestLog.take,
    }
  }

  async #mount(): Promise<void> {
    const { config } = this.services
    const operations = OPERATIONS.filter(
      (operation) => !operation.sandboxOnly || config.SVC_MODE === 'sandbox',
    )
    await serveReference(this.http, operations, {
      version: VERSION,
      publicUrl: () => this.#publicUrl,
      securitySchemes: SECURITY_SCHEMES,
      webhooks: WEBHOOKS,
      examples: async () => (await import('./examples.ts')).EXAMPLES,
    })
    mountOperations(this.http, operations, this.#serverOptions)
    if (config.CONSOLE === 'on') mountConsole(this.http, this.#serverOptions)
    await this.http.ready()
  }

  /** Resolves when a restore has put other data in the place of that which this app was opened on. */
  replaced(): Promise<void> {
    const { database, keyring } = this.services
    return new Promise((resolve) => (this.#stopWatching = watchEpoch(database, keyring.epoch, resolve)))
  }

  /** Listens; answers the address at which callers reach the service. */
  async listen(): Promise<string> {
    const { HOST: host, PORT: port, PUBLIC_URL } = this.services.config
    const local = await this.http.listen({ host, port })
    this.#publicUrl = PUBLIC_URL ?? local.replace('[::]', 'localhost').replace('0.0.0.0', 'localhost')
    return this.#publicUrl
  }

  /** Begins what a listening service does beside requests: it expires, numbers and delivers events, and keeps records. */
  startBackground(): void {
    this.#upiSwitch?.start()
    this.#stopExpiring = keepExpiring(this.services)
    this.#requestLog.start()
    this.#auditAnchors.start()
    this.#relay.start()
    this.#deliveries.start()
    this.coinSweep.start()
    this.#bulkWorker.start()
  }

  /**
   * Tells that it leaves and goes on a moment, so that a load balancer turns away first. Then no new work; every accepted
   * request is answered, every accepted command committed; then the database is let go.
   */
  async drain(leaveMs = 0): Promise<void> {
    this.#leaving = true
    if (leaveMs > 0) await sleep(leaveMs)
    this.#stopWatching?.()
    this.#stopHousekeeping()
    this.#stopRefreshing()
    await this.#upiSwitch?.close()
    await this.coinSweep.close()
    await this.#bulkWorker.stop()
    this.#draining = true
    eventStreams(this.services).close()
    await Promise.all([
      this.#closeHttp(),
      this.#stopExpiring?.(),
      this.#relay.close(),
      this.#deliveries.close(),
    ])
    await Promise.all([...this.services.lanes.open].map((lane) => lane.drain()))
    await this.#requestLog.close()
    await this.#auditAnchors.close()
    await this.#database.close()
  }
  /** The listener first: once Fastify closes, it takes no requests to ourselves either, on which others may wait. */
  async #closeHttp(): Promise<void> {
    if (this.http.server.listening)
      await new Promise((resolve) => {
        this.http.server.close(resolve)
        this.http.server.closeIdleConnections()
      })
    await this.http.close()
  }
}
