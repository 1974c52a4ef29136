import { version as nodeVersion } from 'node:process'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CommitQueueState } from './db/commit-queue-state.ts'
import { VERSION } from './package.ts'

/**
 * Memory, event loop and garbage collection, measured once however many services a process opens: what measures them
 * cannot be stopped.
 */
let ofProcess: Registry | undefined
function processRegistry(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess, prefix: 'svc_' })
  }
  return ofProcess
}

/** Of background loops, by name. */
function loopMetrics(registers: Registry[]) {
  const labelNames = ['loop'] as const
  return {
    loopLastSuccess: new Gauge({
      name: 'svc_loop_last_success_timestamp_seconds',
      help: 'When the background loop last succeeded, in seconds since 1970',
      labelNames,
      registers,
    }),
    loopInterval: new Gauge({
      name: 'svc_loop_interval_seconds',
      help: 'Time from the end of one run of the background loop to the start of the next, in seconds',
      labelNames,
      registers,
    }),
    loopFailures: new Counter({
      name: 'svc_loop_failures_total',
      help: 'Failed runs of the background loop',
      labelNames,
      registers,
    }),
  }
}

/** What `/metrics` reports, in the Prometheus text format. One per running service. */
export function openMetrics(queues: ReadonlySet<CommitQueueState>) {
  const [registry, process] = [new Registry(), processRegistry()]
  const registers = [registry]
  const requests = new Histogram({
    name: 'svc_http_request_seconds',
    help: 'Time from the headers of a request to its response, or to the beginning of a stream, by operation and status',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  buildInfo(registers)
  return {
    registry,
    text: () => Registry.merge([process, registry]).metrics(),
    observeRequest: requestObserver(requests),
    ...loopMetrics(registers),
    failures: new Counter({
      name: 'svc_failures_total',
      help: 'Failures returned, by operation and error code',
      labelNames: ['operation', 'error'] as const,
      registers,
    }),
    batchCommands: new Histogram({
      name: 'svc_batch_commands',
      help: 'Commands that went together into one transaction',
      labelNames: ['queue'] as const,
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'svc_batch_seconds',
      help: 'Time of one batch from BEGIN to COMMIT',
      labelNames: ['queue'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5],
      registers,
    }),
    batchTroubles: new Counter({
      name: 'svc_batch_troubles_total',
      help: 'Batches that met something: held (rows locked by others), split, retried, settled (outcome of a lost COMMIT found)',
      labelNames: ['queue', 'trouble'] as const,
      registers,
    }),
    railSignaturesRejected: new Counter({
      name: 'svc_rail_signatures_rejected_total',
      help: 'Notices of the rail with a wrong signature: a forged one, or one of our keys is wrong',
      registers,
    }),
    requestLogDropped: new Counter({
      name: 'svc_request_log_dropped_total',
      help: 'Requests that were not entered in the request log, for want of room or time',
      registers,
    }),
    rateLimitShared: new Gauge({
      name: 'svc_rate_limit_shared',
      help: 'Whether requests are counted for all processes together: 1, or 0 where RATE_LIMIT_URL is not set or does not respond',
      registers,
    }),
    ...queueGauges(queues, registers),
  }
}

function queueGauges(queues: ReadonlySet<CommitQueueState>, registers: Registry[]) {
  /** Read when Prometheus scrapes, so that it is right also while a batch hangs. */
  const commitQueueGauge = (name: string, help: string, read: (queue: CommitQueueState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['queue'] as const,
      registers,
      collect() {
        for (const queue of queues) this.set({ queue: queue.name }, read(queue))
      },
    })
  return {
    queued: commitQueueGauge('svc_queued_commands', 'Commands waiting for a batch', ({ queued }) => queued),
    inFlight: commitQueueGauge(
      'svc_commands_in_flight',
      'Commands of batches under way: neither committed nor refused so far',
      ({ inFlight }) => inFlight,
    ),
    batchAge: commitQueueGauge(
      'svc_oldest_batch_seconds',
      'Time since the batch under way began, 0 without one',
      ({ batchAgeMs }) => batchAgeMs / 1_000,
    ),
  }
}

const buildInfo = (registers: Registry[]): void =>
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1: the version of the program and of Node',
    labelNames: ['version', 'node'] as const,
    registers,
  }).set({ version: VERSION, node: nodeVersion }, 1)

/** Of a process that serves: what it does (`ROLES`). */
export function countRoles(registry: Registry, roles: readonly string[]): void {
  const gauge = new Gauge({
    name: 'svc_role',
    help: '1 for each role of the process: api, jobs, console',
    labelNames: ['role'] as const,
    registers: [registry],
  })
  for (const role of roles) gauge.set({ role }, 1)
}

/** Of a process with jobs: how far events and webhooks are behind. */
export const backlogGauges = (registry: Registry) => {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  return {
    unnumbered: gauge(
      'svc_oldest_unnumbered_event_seconds',
      'Age of the oldest event that has no number yet, so that no feed and no endpoint has it; 0 without one',
    ),
    due: gauge('svc_webhook_deliveries_due', 'Deliveries to enabled endpoints that are due'),
    dueFor: gauge(
      'svc_oldest_webhook_delivery_seconds',
      'For how long the oldest of these has been due; 0 without one',
    ),
  }
}

/** Of the process that starts workers (`WORKERS`), which has no other metrics. */
export function workerStarts() {
  const registry = new Registry()
  const counter = new Counter({
    name: 'svc_worker_starts_total',
    help: 'How often a worker was started: more than once where it ended and was replaced',
    labelNames: ['worker'] as const,
    registers: [registry],
  })
  return { inc: (worker: string) => counter.inc({ worker }), text: () => registry.metrics() }
}

/** Of a process that speaks TLS itself. */
export const certificateExpiry = (registry: Registry): Gauge =>
  new Gauge({
    name: 'svc_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of TLS_CERT_FILE expires, in seconds since 1970',
    registers: [registry],
  })

/** Of a process that serves. */
export const clockSkew = (registry: Registry): Gauge =>
  new Gauge({
    name: 'svc_clock_skew_seconds',
    help: 'By how much the clock of the process is ahead of the database’s at least, in seconds; negative where it is behind',
    registers: [registry],
  })

/** The library finds a label by building its text; there are few of them, so each timer is kept. */
function requestObserver(requests: Histogram<'operation' | 'status'>) {
  const timers = new Map<string, { observe(seconds: number): void }>()
  return (operation: string, status: number, seconds: number): void => {
    const name = `${operation} ${status}`
    let timer = timers.get(name)
    if (!timer) timers.set(name, (timer = requests.labels({ operation, status })))
    timer.observe(seconds)
  }
}

export type Metrics = ReturnType<typeof openMetrics>
