import cluster, { type Worker } from 'node:cluster'
import { join } from 'node:path'
import { type Config, requireOperatorUrlOfRoles } from '@svc/contract/config'
import { type PlannedProcess, plannedProcesses } from '@svc/contract/process-settings'
import type { Log } from '@svc/platform/log'
import { workerStarts } from '@svc/platform/metrics'
import { PACKAGE_ROOT } from '@svc/platform/package'
import type { End } from './serve-until.ts'
import type { FromWorker, ToWorker } from './worker-link.ts'
import { mergeMetrics } from './worker-metrics.ts'

/** A worker that lived shorter than this is replaced only after a pause. */
const SHORT_LIFE_MS = 10_000
const PAUSE_MS = 1_000
/** How long a scrape waits for the metrics of a worker; then they are left out. */
const METRICS_MS = 2_000

interface Slot extends PlannedProcess {
  worker: Worker | undefined
  startedAtMs: number
  isReady: boolean
}

/**
 * `WORKERS`: this process serves nothing itself. It opens the port, hands each connection to one of its workers, and
 * replaces those that end; the port stays open meanwhile. Workers know of each other by the database alone.
 */
class Workers {
  readonly #slots: readonly Slot[]
  readonly #config: Config
  readonly #log: Log
  readonly #starts = workerStarts()
  readonly #collecting = new Map<number, (worker: string, text: string) => void>()
  #requests = 0
  #isEnding = false
  /** Once one was ready, what ends is replaced; before that, nothing shows that another start would succeed. */
  #wasReady = false
  #exitCode = 0
  #ended: () => void = () => undefined

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
    this.#slots = plannedProcesses(config).map((planned) => ({
      ...planned,
      worker: undefined,
      startedAtMs: 0,
      isReady: false,
    }))
  }

  /** Resolves to the exit code once all workers have ended. */
  async run(ending: Promise<End>): Promise<number> {
    for (const { roles } of this.#slots) requireOperatorUrlOfRoles({ ...this.#config, ROLES: roles })
    cluster.setupPrimary({ exec: join(PACKAGE_ROOT, 'bin/svc.mjs'), args: ['serve'] })
    const ended = new Promise<void>((resolve) => (this.#ended = resolve))
    // The others follow once it is ready: it creates what a new installation needs, and reports what is wrong once.
    this.#start(this.#slots[0]!)
    void ending.then((end) => {
      if (end.error) this.#log.fatal({ err: end.error }, 'an unhandled error; shutting down')
      this.#end(end.error ? 1 : 0)
    })
    await ended
    return this.#exitCode
  }

  #start(slot: Slot): void {
    const worker = cluster.fork({ ROLES: slot.roles.join(), WORKERS: '1' })
    this.#starts.inc(slot.name)
    Object.assign(slot, { worker, startedAtMs: performance.now(), isReady: false })
    worker.on('message', (message: FromWorker) => void this.#receive(slot, worker, message))
    // A worker that ends while it is sent something; its exit is what counts.
    worker.on('error', () => undefined)
    worker.once('exit', (code, signal) => this.#exited(slot, code, signal))
  }

  #exited(slot: Slot, code: number | null, signal: string | null): void {
    slot.worker = undefined
    slot.isReady = false
    const end = { worker: slot.name, code, ...(signal && { signal }) }
    if (!this.#isEnding && this.#wasReady) {
      const pauseMs = performance.now() - slot.startedAtMs < SHORT_LIFE_MS ? PAUSE_MS : 0
      this.#log.error(end, 'a worker ended; another one takes its place')
      setTimeout(() => this.#isEnding || this.#start(slot), pauseMs)
      return
    }
    if (code !== 0) this.#exitCode ||= code ?? 1
    this.#end(this.#exitCode)
  }

  /** Each worker drains for itself, within its own limit of time. */
  #end(code: number): void {
    this.#exitCode ||= code
    const running = this.#slots.flatMap(({ worker }) => worker ?? [])
    if (!this.#isEnding) for (const worker of running) worker.process.kill('SIGTERM')
    this.#isEnding = true
    if (running.length === 0) this.#ended()
  }

  async #receive(slot: Slot, worker: Worker, message: FromWorker): Promise<void> {
    if (message.svc === 'ready') this.#becameReady(slot)
    else if (message.svc === 'own metrics') this.#collecting.get(message.request)?.(slot.name, message.text)
    else if (message.svc === 'metrics wanted') {
      const { request } = message
      send(worker, { svc: 'metrics', request, text: await this.#metrics() })
    }
  }

  #becameReady(slot: Slot): void {
    slot.isReady = true
    if (!this.#wasReady && !this.#isEnding) {
      this.#wasReady = true
      for (const other of this.#slots) if (other !== slot) this.#start(other)
    }
    if (this.#slots.every(({ isReady }) => isReady))
      this.#log.info({ workers: this.#slots.map(({ name }) => name) }, 'all workers are ready')
  }

  /** Of all workers that respond in time. */
  async #metrics(): Promise<string> {
    const request = this.#requests++
    const asked = this.#slots.flatMap(({ isReady, worker }) => (isReady && worker) || [])
    const texts = new Map<string, string>()
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, METRICS_MS)
      this.#collecting.set(request, (name, text) => {
        texts.set(name, text)
        if (texts.size < asked.length) return
        clearTimeout(late)
        resolve()
      })
      for (const worker of asked) send(worker, { svc: 'send metrics', request })
    })
    this.#collecting.delete(request)
    const inOrder = this.#slots.flatMap(({ name }) => {
      const text = texts.get(name)
      return text === undefined ? [] : [[name, text] as const]
    })
    return `${mergeMetrics(inOrder)}\n${await this.#starts.text()}`
  }
}

const send = (worker: Worker, message: ToWorker): void => {
  if (worker.isConnected()) worker.send(message, () => undefined)
}

export const runWorkers = (config: Config, log: Log, ending: Promise<End>): Promise<number> =>
  new Workers(config, log).run(ending)
