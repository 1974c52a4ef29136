import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What `/metrics` tells, in the Prometheus text format. One per running service. */
export function openMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  const registers = [registry]
  return {
    registry,
    requests: new Histogram({
      name: 'svc_http_request_seconds',
      help: 'Time from the headers of a request to its answer, by operation and status',
      labelNames: ['operation', 'status'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    failures: new Counter({
      name: 'svc_failures_total',
      help: 'Failures answered, by operation and error word',
      labelNames: ['operation', 'error'] as const,
      registers,
    }),
    batchCommands: new Histogram({
      name: 'svc_batch_commands',
      help: 'Commands that went together into one transaction',
      labelNames: ['lane'] as const,
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'svc_batch_seconds',
      help: 'Time of one batch from BEGIN to COMMIT',
      labelNames: ['lane'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5],
      registers,
    }),
    batchTroubles: new Counter({
      name: 'svc_batch_troubles_total',
      help: 'Batches that met something: held (rows locked by others), split, retried, settled (outcome of a lost COMMIT found)',
      labelNames: ['lane', 'trouble'] as const,
      registers,
    }),
    requestLogDropped: new Counter({
      name: 'svc_request_log_dropped_total',
      help: 'Requests that were not entered in the request log, for want of room or time',
      registers,
    }),
    rateLimitShared: new Gauge({
      name: 'svc_rate_limit_shared',
      help: 'Whether requests are counted for all processes together: 1, or 0 where RATE_LIMIT_URL is not set or does not answer',
      registers,
    }),
    queued: new Gauge({
      name: 'svc_queued_commands',
      help: 'Commands waiting for a batch',
      labelNames: ['lane'] as const,
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof openMetrics>
