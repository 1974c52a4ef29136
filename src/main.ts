import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { App } from './app.ts'
import type { Config } from './config.ts'
import { readConfig } from './config.ts'
import { type Installation, openInstallation } from './installation.ts'
import { type Log, openLog } from './platform/log.ts'
import { banner } from './sandbox/banner.ts'
import { prepareDemo, type SandboxFile, sandboxFile } from './sandbox/demo.ts'

/** Another end: everything that this process remembers is of data that is no longer there. */
const REPLACED = Object.freeze<End>({})

/** Runs the service until a signal ends it. Resolves to the exit code: 0 after an orderly end. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<number> {
  const startedAtMs = performance.now()
  const config = readConfig(environment)
  const terminal = process.stdout.isTTY
  // On a terminal people read the banner; only troubles interrupt it, unless they asked for more.
  const log = openLog(terminal && !environment['LOG_LEVEL'] ? 'warn' : config.LOG_LEVEL)
  const signalled = nextSignal()
  const installation = await openInstallation(config, log, (message) =>
    terminal ? console.log(`  ${message} …`) : log.info(message),
  )
  try {
    process.once('uncaughtException', (error) => signalled.crash(error))
    process.once('unhandledRejection', (error) => signalled.crash(error))
    for (let settings = config; ; ) {
      const app = await openApp(settings, installation, log)
      try {
        const baseUrl = await listen(app, settings)
        const demo =
          config.SVC_MODE === 'sandbox' ? await prepareDemo(app.services, keyMaker(app)) : undefined
        tellStarted(log, terminal, { config, baseUrl, installation, demo, startedAtMs })
        const end = await Promise.race([signalled.signal, app.replaced().then(() => REPLACED)])
        if (end === REPLACED) log.warn('the data was replaced by a restore; beginning anew on it')
        else if (end.error) log.fatal({ err: end.error }, 'an error that nobody handled; shutting down')
        else log.info({ signal: end.name }, 'draining: no new requests, accepted ones are answered')
        // Whoever follows listens where callers know the service.
        settings = { ...config, PORT: (app.http.server.address() as AddressInfo).port }
        const inTime = await drained(app, config, log)
        if (end !== REPLACED) return inTime && !end.error ? 0 : 1
      } catch (error) {
        await app.drain()
        throw error
      }
    }
  } finally {
    await installation.release()
  }
}

const openApp = (config: Config, { address, masterKeys }: Installation, log: Log): Promise<App> =>
  App.open({ config, address, masterKeys, log })

export const keyMaker = ({ services: { keyring, random, config } }: App) =>
  ({ keyring, random, mode: config.SVC_MODE === 'live' ? 'live' : 'test' }) as const

async function listen(app: App, config: Config): Promise<string> {
  try {
    const baseUrl = await app.listen()
    app.startBackground()
    return baseUrl
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new Error(
        `Port ${config.PORT} on ${config.HOST} is taken. Choose another one, for example: PORT=8090 npm start`,
        { cause: error },
      )
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
      throw new Error(`Cannot listen on ${config.HOST}:${config.PORT} (${code}). Check HOST and PORT.`, {
        cause: error,
      })
    throw error
  }
}

interface Started {
  readonly config: Config
  readonly baseUrl: string
  readonly installation: Installation
  readonly demo: SandboxFile | undefined
  readonly startedAtMs: number
}

function tellStarted(
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
        hasConsole: config.CONSOLE === 'on',
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
  else
    log.error(
      { DRAIN_TIMEOUT_MS: config.DRAIN_TIMEOUT_MS },
      'requests were still under way at the end of the time for draining',
    )
  return inTime
}

interface End {
  readonly name?: NodeJS.Signals
  readonly error?: unknown
}

/** The first SIGTERM or SIGINT asks for an orderly end, a second one ends the process at once. */
function nextSignal(): { signal: Promise<End>; crash: (error: unknown) => void } {
  let end: (end: End) => void = () => undefined
  const signal = new Promise<End>((resolve) => (end = resolve))
  let asked = false
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (asked) process.exit(130)
      asked = true
      end({ name })
    })
  }
  return { signal, crash: (error) => end({ error }) }
}
