import cluster from 'node:cluster'
import { type Config, readConfig, requireOperatorUrlOfRoles, requireRailUrl } from '@svc/contract/config'
import { type Log, openLog } from '@svc/platform/log'
import type { Tracing } from '@svc/platform/tracing'
import { expectListenable } from '@svc/server/http/listening'
import { isServed } from '@svc/server/sandbox/running-sandbox'
import { readSandboxFile } from '@svc/server/sandbox/sandbox-file'
import { openInstallation } from './installation.ts'
import { listenAddress } from './listen-address.ts'
import { storeOwnersSettings } from './owners-settings.ts'
import type { End } from './serve-until.ts'
import { WorkerLink } from './worker-link.ts'

/** Runs the service until a signal ends it. Resolves to the exit code: 0 after an orderly end. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<number> {
  const config = readConfig(environment)
  requireRailUrl(config)
  requireOperatorUrlOfRoles(config)
  const terminal = process.stdout.isTTY && !cluster.isWorker
  // On a terminal people read the banner; only troubles interrupt it, unless they asked for more.
  const log = openLog(terminal && !environment['LOG_LEVEL'] ? 'warn' : config.LOG_LEVEL)
  const signalled = nextSignal(log)
  // Of workers, the port is open already.
  if (!cluster.isWorker) await expectFree(config)
  if (config.WORKERS > 1) {
    endOnErrors(signalled)
    return (await import('./workers.ts')).runWorkers(config, log, signalled.signal)
  }
  const link = WorkerLink.open()
  try {
    return await serveOnDatabase(config, { log, terminal, signalled, link })
  } finally {
    link?.close()
  }
}

async function expectFree(config: Config): Promise<void> {
  try {
    await expectListenable({ HOST: await listenAddress(config), PORT: config.PORT })
  } catch (error) {
    const sandbox = config.SVC_MODE === 'sandbox' ? await readSandboxFile(config.DATA_DIR) : undefined
    if (!sandbox || !(await isServed(sandbox))) throw error
    throw new Error(
      `A sandbox on ${config.DATA_DIR} already runs at ${sandbox.baseUrl}. Use it, or start another one beside it: PORT=8090 DATA_DIR=data-2 npm start`,
      { cause: error },
    )
  }
}

interface Serving {
  readonly log: Log
  readonly terminal: boolean
  readonly signalled: Signalled
  readonly link: WorkerLink | undefined
}

async function serveOnDatabase(config: Config, { log, terminal, signalled, link }: Serving): Promise<number> {
  // The database server starts while the rest of the program is read: each takes a third of a second.
  const opening = openInstallation(config, log, (message) =>
    terminal ? console.log(`  ${message} …`) : log.info(message),
  )
  const [installation, { serveUntil }, tracing] = await Promise.all([
    opening,
    import('./serve-until.ts'),
    tracingOf(config),
  ])
  try {
    // Live mode serves without the owner's login: there `svc admin migrate` stores it.
    if (config.SVC_MODE === 'sandbox') await storeOwnersSettings(installation.address, config)
    endOnErrors(signalled)
    return await serveUntil(signalled.signal, { config, installation, log, terminal, tracing, link })
  } finally {
    await Promise.all([installation.release(), tracing?.close(LAST_EXPORT_MS)])
  }
}

function endOnErrors({ crash }: Signalled): void {
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
}

/** How long the last traces may take to be sent. */
const LAST_EXPORT_MS = 2_000

/** Nothing of OpenTelemetry is loaded while it is off. */
async function tracingOf(config: Config): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return undefined
  return (await import('@svc/platform/opentelemetry')).openTracing(config, endpoint)
}

interface Signalled {
  readonly signal: Promise<End>
  readonly crash: (error: unknown) => void
}

/** Ctrl-C comes twice under npm: from the terminal, and from npm, which forwards its own (`@npmcli/run-script`). */
const SAME_SIGNAL_MS = 1_000

/**
 * The first SIGTERM, SIGINT, SIGHUP or unhandled error starts an orderly end. During it, further errors are logged;
 * another SIGTERM or SIGINT ends the process at once.
 */
function nextSignal(log: Log): Signalled {
  let ending = false
  let resolveSignal: (end: End) => void = () => undefined
  const signal = new Promise<End>((resolve) => (resolveSignal = resolve))
  const end = (why: End): void => {
    ending = true
    resolveSignal(why)
  }
  let requestedMs: number | undefined
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => {
      const sinceMs = performance.now() - (requestedMs ?? performance.now())
      // A terminal that closes may send several SIGHUP, by itself and by its shell.
      if (sinceMs > SAME_SIGNAL_MS && name !== 'SIGHUP') process.exit(130)
      requestedMs ??= performance.now()
      end({ name })
    })
  }
  const crash = (error: unknown): void => {
    if (ending) log.error({ err: error }, 'an unhandled error while shutting down')
    else end({ error })
  }
  return { signal, crash }
}
