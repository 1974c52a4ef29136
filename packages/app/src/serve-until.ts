import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '@svc/contract/config'
import type { Log } from '@svc/platform/log'
import type { Tracing } from '@svc/platform/tracing'
import { listenError } from '@svc/server/http/listening'
import { banner } from '@svc/server/sandbox/banner'
import { prepareDemo } from '@svc/server/sandbox/demo'
import { prepareReferenceTenants } from '@svc/server/sandbox/reference-tenants'
import { type SandboxFile, sandboxFile } from '@svc/server/sandbox/sandbox-file'
import { App } from './app.ts'
import type { Installation } from './installation.ts'
import type { WorkerLink } from './worker-link.ts'

/** Why a service comes to its end. */
export interface End {
  readonly name?: NodeJS.Signals
  readonly error?: unknown
}

/** Another end: everything that this process remembers is of data that is no longer there. */
const REPLACED = Object.freeze<End>({})

interface Start {
  readonly config: Config
  readonly installation: Installation
  readonly log: Log
  readonly terminal: boolean
  readonly tracing: Tracing | undefined
  /** Of a worker. */
  readonly link: WorkerLink | undefined
}

/** Serves, on a database that is ready, until the end comes. Resolves to the exit code. */
export async function serveUntil(
  ending: Promise<End>,
  { config, installation, log, terminal, tracing, link }: Start,
): Promise<number> {
  let settings = config
  // For the database that was new at the start; data that comes in its place gets a key of its own.
  let { rsaKey } = installation
  // The first time is counted from the start of the process.
  for (let startedAtMs = 0; ; startedAtMs = performance.now()) {
    const app = await openApp(settings, { ...installation, rsaKey }, { log, tracing, link })
    rsaKey = undefined
    try {
      const isSandbox = config.SVC_MODE === 'sandbox'
      if (isSandbox) app.phase = 'setting up'
      const baseUrl = await listen(app, settings)
      const demo = isSandbox ? await prepareDemo(app.services, keyMaker(app)) : undefined
      if (isSandbox) await app.keepExamples(await prepareReferenceTenants(app.services, keyMaker(app)))
      app.phase = 'serving'
      link?.ready()
      logStarted(log, terminal, { config, baseUrl, installation, demo, startedAtMs })
      const end = await Promise.race([ending, app.replaced().then(() => REPLACED)])
      if (end === REPLACED) log.warn('the data was replaced by a restore; beginning again on it')
      else if (end.error) log.fatal({ err: end.error }, 'an unhandled error; shutting down')
      else log.info({ signal: end.name }, 'draining: no new requests, accepted ones are completed')
      // The next one listens where callers know the service.
      const listening = app.http.server.address() as AddressInfo | null
      settings = { ...config, PORT: listening?.port ?? config.PORT }
      const inTime = await drained(app, config, log)
      if (end !== REPLACED) return inTime && !end.error ? 0 : 1
    } catch (error) {
      await app.drain()
      throw error
    }
  }
}

const openApp = (
  config: Config,
  { address, masterKeys, keyProvider, rsaKey }: Installation,
  { log, tracing, link }: Pick<Start, 'log' | 'tracing' | 'link'>,
): Promise<App> =>
  App.open({
    config,
    address,
    masterKeys,
    keyProvider,
    log,
    tracing,
    ...(rsaKey && { rsaKey }),
    metricsOfAll: link && ((own) => link.metricsOfAll(own)),
  })

export const keyMaker = ({ services: { keyring, random, config } }: App) =>
  ({ keyring, random, mode: config.SVC_MODE === 'live' ? 'live' : 'test' }) as const

async function listen(app: App, config: Config): Promise<string> {
  try {
    const baseUrl = await app.listen()
    app.startBackground()
    return baseUrl
  } catch (error) {
    throw listenError(error, config)
  }
}

interface Started {
  readonly config: Config
  readonly baseUrl: string
  readonly installation: Installation
  readonly demo: SandboxFile | undefined
  readonly startedAtMs: number
}

function logStarted(
  log: Log,
  terminal: boolean,
  { config, baseUrl, installation, demo, startedAtMs }: Started,
): void {
  const tookMs = Math.round(performance.now() - startedAtMs)
  const file = sandboxFile(config.DATA_DIR)
  if (terminal)
    console.log(
      banner({
        baseUrl,
        database: installation.database,
        mode: config.SVC_MODE,
        hasConsole: config.CONSOLE === 'on' && config.ROLES.includes('console'),
        hasPortal: config.PORTAL === 'on' && config.ROLES.includes('console'),
        demo,
        file,
        tookMs,
      }),
    )
  else
    log.info(
      {
        baseUrl,
        mode: config.SVC_MODE,
        roles: config.ROLES,
        database: installation.database,
        tookMs,
        ...(demo && { sandboxFile: file }),
      },
      'ready',
    )
}

async function drained(app: App, config: Config, log: Log): Promise<boolean> {
  const timeout = new AbortController()
  const leaveMs = config.SVC_MODE === 'live' ? config.DRAIN_DELAY_MS : 0
  const late = sleep(leaveMs + config.DRAIN_TIMEOUT_MS, false, { signal: timeout.signal }).catch(() => true)
  const inTime = await Promise.race([app.drain(leaveMs).then(() => true), late])
  timeout.abort()
  if (inTime) log.info('drained')
  else {
    log.error(
      { DRAIN_TIMEOUT_MS: config.DRAIN_TIMEOUT_MS },
      'requests were still in progress at the end of the time for draining',
    )
    app.http.server.closeAllConnections()
  }
  return inTime
}
