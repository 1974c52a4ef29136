import cluster from 'node:cluster'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { mountConsole, mountPortal } from '@svc/console-api/mount-pages'
import { RequestLog } from '@svc/console-api/records/request-log'
import { fail, SHUTTING_DOWN } from '@svc/contract/errors'
import { idMaker } from '@svc/contract/id-kinds'
import type { ProcessRole } from '@svc/contract/process-settings'
import { storeApprovalLimit } from '@svc/core/ledger/approvals'
import { warnOfOtherTerms } from '@svc/core/payments/fees/charge-terms'
import { AccessTokens } from '@svc/core/tenants/access-token'
import { CredentialRefusals } from '@svc/core/tenants/credential-refusals'
import { CredentialUses } from '@svc/core/tenants/credential-uses'
import { jweKeys } from '@svc/core/tenants/jwe-keys'
import { TestClocks } from '@svc/core/tenants/test-clocks'
import { inPieces } from '@svc/kernel/ids'
import { systemClock } from '@svc/kernel/time'
import { Commands } from '@svc/platform/command'
import { KeyProviderWatch } from '@svc/platform/crypto/key-provider'
import { Keyring } from '@svc/platform/crypto/keyring'
import type { CommitQueueServices } from '@svc/platform/db/commit-queue'
import { countConnections } from '@svc/platform/db/connection-gauges'
import { Database } from '@svc/platform/db/database'
import { type EpochWatch, watchEpoch } from '@svc/platform/db/epoch'
import { IdempotencyStore } from '@svc/platform/db/idempotency-store'
import { Partitions } from '@svc/platform/db/partitions'
import { purgeLoop } from '@svc/platform/db/purge-expired'
import { countReplicaReads } from '@svc/platform/db/replica'
import { storeRetention } from '@svc/platform/db/retention'
import { BoundedWaits, requestLimitMs } from '@svc/platform/deadlines'
import { countRoles, openMetrics } from '@svc/platform/metrics'
import { authenticators } from '@svc/server/access/authenticate'
import { apiDocument } from '@svc/server/api-document'
import { FailureLog } from '@svc/server/http/failure-log'
import { mountOperations } from '@svc/server/http/mount'
import type { SelfCall, Services } from '@svc/server/http/operation'
import { isProbe } from '@svc/server/http/probes'
import { serveReference } from '@svc/server/http/reference'
import { buildServer, type ServerOptions } from '@svc/server/http/server'
import { certificateLoop } from '@svc/server/http/tls'
import { type ApiServices, OPERATIONS } from '@svc/server/operations'
import { railAuthenticator } from '@svc/server/rails/authenticate-rail'
import { injectFaults } from '@svc/server/sandbox/fault-injection'
import { ReferenceMaker } from '@svc/server/sandbox/reference-maker'
import type { ReferenceTenants } from '@svc/server/sandbox/reference-tenants'
import { EventStreams } from '@svc/server/webhooks/stream-events'
import type { FastifyInstance } from 'fastify'
import type { AppOptions } from './app-options.ts'
import { HttpCloser } from './close-http.ts'
import { NO_JOBS, openJobs } from './jobs.ts'
import { listenAddress } from './listen-address.ts'
import { type Part, startInTurn, stopAll } from './part.ts'
import { sandboxReference } from './sandbox-reference.ts'

const INSIDE = 'x-svc-inside'

/** A service that is put together but does not listen yet: composition root of the program, the CLI and the tests. */
export class App {
  readonly http: FastifyInstance
  readonly services: ApiServices
  readonly #serverOptions: ServerOptions<ApiServices>
  readonly #httpCloser: HttpCloser
  /** Parts in the order of their start: for the app's whole life, and while the service listens. */
  readonly #essential: readonly Part[]
  readonly #background: readonly Part[]
  readonly #epoch: EpochWatch
  /** Of a process with jobs. */
  readonly #partitions: Partitions | undefined
  readonly #keyWatch: KeyProviderWatch
  /** Of a sandbox. */
  readonly #referenceMaker: ReferenceMaker | undefined
  readonly #drainSteps: readonly (() => Promise<unknown>)[]
  /** But for `serving` it reports that requests should go elsewhere or come later; those that arrive are still served. */
  phase: 'setting up' | 'serving' | 'leaving' = 'serving'
  /** Requests to ourselves name it: they belong to ones that were accepted, so they are carried out while the service drains. */
  readonly #inside = randomUUID()
  #publicUrl = ''

  private constructor(options: AppOptions, database: Database, keyring: Keyring) {
    const { config } = options
    const services = this.#open(options, database, keyring)
    this.services = services
    const { credentialRefusals, credentialUses } = services
    const requestLog = new RequestLog(services, OPERATIONS)
    if (config.SVC_MODE === 'sandbox') this.#referenceMaker = new ReferenceMaker(services)
    this.#serverOptions = this.#options(requestLog)
    this.http = buildServer(this.#serverOptions)
    this.#httpCloser = new HttpCloser(this.http)
    if (config.SVC_MODE === 'sandbox') injectFaults(this.http, this.#httpCloser.closing)

    this.#keyWatch = new KeyProviderWatch(options.keyProvider, options.masterKeys, services)
    const optional = [
      certificateLoop(this.http, services),
      services.testClocks?.loop(services),
      this.#keyWatch.loop,
    ]
    const hasJobs = this.#does('jobs')
    if (hasJobs) this.#partitions = new Partitions(services)
    this.#essential = [
      ...(this.#partitions ? [purgeLoop(services, config.IDEMPOTENCY_HOURS), this.#partitions.loop] : []),
      keyring.refreshLoop(services),
      ...optional.filter((part) => !!part),
    ]
    const jobs = hasJobs ? openJobs(services) : NO_JOBS
    // What this very process remembers of its requests.
    const records = [requestLog.loop, credentialUses.loop, credentialRefusals.loop]
    this.#background = [...records, ...jobs.all]

    this.#epoch = watchEpoch(database, keyring.epoch, services)
    const maker = this.#referenceMaker ? [this.#referenceMaker.loop] : []
    this.#drainSteps = [
      () => stopAll([...jobs.commands, ...maker]),
      () => Promise.all([this.#endRequests(), stopAll(jobs.beside)]),
      () => Promise.all([...services.queues.open].map((queue) => queue.drain())),
      () => stopAll([...records, ...jobs.last]),
      // Together: on a frozen connection, each of them waits until it is closed.
      () => Promise.all([stopAll([this.#epoch.loop, ...this.#essential]), database.close()]),
    ]
  }

  #open(
    {
      config,
      log,
      clock: base = systemClock,
      random = inPieces(randomBytes),
      metricsOfAll,
      enterQueue,
    }: AppOptions,
    database: Database,
    keyring: Keyring,
  ): ApiServices {
    const testClocks = config.SVC_MODE === 'sandbox' ? new TestClocks(base) : undefined
    const clock = testClocks ?? base
    const open: CommitQueueServices['open'] = new Set()
    const own = openMetrics(open)
    const metrics = metricsOfAll ? { ...own, text: metricsOfAll(own.text) } : own
    countRoles(metrics.registry, config.ROLES)
    countConnections(metrics.registry, database)
    if (database.replica) countReplicaReads(metrics.registry, database.replica)
    const waits = new BoundedWaits()
    const queues: CommitQueueServices = {
      database,
      responses: new IdempotencyStore(keyring),
      clock,
      log,
      metrics,
      limits: { commandTimeoutMs: config.COMMAND_TIMEOUT_MS, tenantQueueMax: config.TENANT_QUEUE_MAX },
      open,
    }
    const tools = { config, database, keyring, clock, random, newId: idMaker(clock, random), log }
    const services: Services = {
      ...tools,
      metrics,
      queues,
      waits,
      commands: new Commands(tools, queues, waits, enterQueue),
      publicUrl: () => this.#publicUrl,
      jwes: jweKeys(keyring, database),
      isLeaving: () => this.phase === 'leaving',
      isSettingUp: () => this.phase === 'setting up',
      warnings: () => [...(this.#partitions?.warnings ?? []), ...this.#keyWatch.warnings],
      selfCall: (request) => this.#selfCall(request),
    }
    return {
      ...services,
      accessTokens: new AccessTokens(services),
      credentialUses: new CredentialUses(services),
      credentialRefusals: new CredentialRefusals(services),
      eventStreams: new EventStreams(services),
      testClocks,
    }
  }

  async #selfCall({ method, path, headers, body }: SelfCall) {
    const own = { ...headers, [INSIDE]: this.#inside }
    const response = await this.http.inject({
      method,
      url: path,
      headers: own,
      ...(body && { payload: body }),
    })
    return { status: response.statusCode, body: response.body, headers: response.headers }
  }

  /** Opens the keyring on a migrated database and mounts every operation of the mode. */
  static async open(options: AppOptions): Promise<App> {
    const { address, config, log, masterKeys, rsaKey, Client, tracing } = options
    const requestMs = requestLimitMs(config.COMMAND_TIMEOUT_MS)
    const database = new Database(address, config.DATABASE_POOL_SIZE, log, {
      Client,
      tracing,
      requestMs,
      durable: config.SVC_MODE === 'live' ? config.REPLICATION : undefined,
      replicaWaitMs: config.DATABASE_READ_WAIT_MS,
      roles: config.ROLES,
    })
    try {
      const app = new App(options, database, await Keyring.open(database, masterKeys, rsaKey))
      await Promise.all(
        [storeRetention, storeApprovalLimit, warnOfOtherTerms].map((store) => store(database, config, log)),
      )
      await app.services.testClocks?.loadIfServed(database)
      await app.#mount()
      for (const part of app.#essential) part.start()
      return app
    } catch (error) {
      await database.close()
      throw error
    }
  }

  #options(requestLog: RequestLog): ServerOptions<ApiServices> {
    const { byName, ...known } = authenticators(this.services)
    const byHeaders = Object.entries(byName).map(
      ([name, authenticate]) => [name, { needs: 'headers', authenticate, ...known }] as const,
    )
    return {
      services: this.services,
      failureLog: new FailureLog(this.services.log),
      authenticators: {
        ...Object.fromEntries(byHeaders),
        rail: { needs: 'body', ...railAuthenticator(this.services, 'upi') },
        bankRail: { needs: 'body', ...railAuthenticator(this.services, 'bank') },
        cardRail: { needs: 'body', ...railAuthenticator(this.services, 'cards') },
      },
      admit: ({ headers }) => {
        const isOurs = headers[INSIDE] === this.#inside
        if (this.#httpCloser.closing.aborted && !isOurs) fail('temporarily_unavailable', SHUTTING_DOWN)
      },
      responded: (request, reply) => {
        requestLog.take(request, reply)
        if (request.method !== 'GET') this.#referenceMaker?.used(request.caller?.tenantId)
      },
    }
  }

  async #mount(): Promise<void> {
    const { config } = this.services
    const isSandbox = config.SVC_MODE === 'sandbox'
    const hasApi = this.#does('api')
    const operations = OPERATIONS.filter(
      (operation) => (hasApi || isProbe(operation)) && (!operation.sandboxOnly || isSandbox),
    )
    if (hasApi)
      await serveReference(this.http, operations, {
        about: apiDocument(config),
        publicUrl: () => this.#publicUrl,
        examples: async () => (await import('./examples.ts')).EXAMPLES,
        ...(isSandbox && sandboxReference(this.services)),
      })
    mountOperations(this.http, operations, this.#serverOptions)
    if (this.#does('console')) {
      if (config.CONSOLE === 'on') mountConsole(this.http, this.#serverOptions)
      if (config.PORTAL === 'on') mountPortal(this.http, this.#serverOptions)
    }
    await this.http.ready()
  }

  #does(role: ProcessRole): boolean {
    return this.services.config.ROLES.includes(role)
  }

  /** Makes the records of the reference's examples, and replaces those that readers use. */
  keepExamples(tenants: ReferenceTenants): Promise<void> | undefined {
    return this.#referenceMaker?.keep(tenants)
  }

  /** Resolves when a restore has replaced the data that this app was opened on. */
  replaced(): Promise<void> {
    this.#epoch.loop.start()
    return this.#epoch.replaced
  }

  /**
   * Listens; returns the address at which callers reach the service. A worker with jobs alone does not: connections to the
   * port go to the other workers.
   */
  async listen(): Promise<string> {
    const { config } = this.services
    if (cluster.isWorker && config.ROLES.join() === 'jobs') return (this.#publicUrl = config.PUBLIC_URL ?? '')
    const local = await this.http.listen({ host: await listenAddress(config), port: config.PORT })
    this.#publicUrl = config.PUBLIC_URL ?? local.replace('[::]', 'localhost').replace('0.0.0.0', 'localhost')
    return this.#publicUrl
  }

  /** Starts what a listening service does beside requests: its jobs, and the records of its requests. */
  startBackground(): void {
    void startInTurn(this.#background, () => this.phase === 'leaving')
  }

  /** In place of `startBackground`, for time that stands still between requests: does in turn what is due by then. */
  async doBackground(nowMs: number): Promise<void> {
    for (const part of this.#background) await part.runIfDue?.(nowMs)
  }

  /** With `doBackground`: starts what reaches outside of the service, such as webhooks. */
  startSenders(): void {
    for (const part of this.#background) if (!part.runIfDue) part.start()
  }

  /**
   * Reports that it leaves and serves on for a moment, so that a load balancer sends requests elsewhere first. Then no
   * new work; every accepted request gets its response, every accepted command is committed; then the database is closed.
   */
  async drain(leaveMs = 0): Promise<void> {
    this.phase = 'leaving'
    if (leaveMs > 0) await sleep(leaveMs)
    for (const step of this.#drainSteps) await step()
  }

  async #endRequests(): Promise<void> {
    this.services.eventStreams.close()
    await this.#httpCloser.close()
  }
}
