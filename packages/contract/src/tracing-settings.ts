import { address, bad, hidden, oneOf, type Setting, text } from './setting.ts'

const fraction: Setting<number> = {
  type: 'number, 0 to 1',
  default: '1',
  meaning: 'Share of traces that are exported, for the samplers by ratio.',
  read(value) {
    const number = /^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/.test(value) ? Number(value) : Number.NaN
    return number >= 0 && number <= 1 ? number : bad('must be a number from 0 to 1')
  },
}

/** Traces, by the names of the OpenTelemetry specification. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: address(
    ['http:', 'https:'],
    'Collector of OpenTelemetry traces, such as `http://127.0.0.1:4318`; traces are sent to `/v1/traces` below it (OTLP over HTTP, JSON). Without it tracing is off. `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_EXPORTER_OTLP_COMPRESSION`, `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_BSP_*` and `OTEL_RESOURCE_ATTRIBUTES` are read too.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: hidden(
    text(undefined, 'Headers for the collector, such as `authorization=Bearer%20token`, comma-separated.'),
  ),
  OTEL_SERVICE_NAME: text('svc', 'Name of the service in traces.'),
  OTEL_TRACES_SAMPLER: oneOf(
    [
      'parentbased_always_on',
      'parentbased_traceidratio',
      'parentbased_always_off',
      'always_on',
      'traceidratio',
      'always_off',
    ],
    'parentbased_always_on',
    'Which traces are exported. The `parentbased_` samplers follow the caller’s `traceparent` where it sends one.',
  ),
  OTEL_TRACES_SAMPLER_ARG: fraction,
} satisfies Record<string, Setting<unknown, string | undefined>>
