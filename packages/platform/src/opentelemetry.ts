import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseKeyPairsIntoRecord, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import type { Config } from '@svc/contract/config'
import { Failure } from '@svc/contract/errors'
import { VERSION } from './package.ts'
import type { Span, SpanAttributes, SpanOptions, Tracing } from './tracing.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT }
const W3C = new W3CTraceContextPropagator()

class ManualSpan implements Span {
  readonly otel: OtelSpan

  constructor(otel: OtelSpan) {
    this.otel = otel
  }

  get traceId(): string {
    return this.otel.spanContext().traceId
  }

  get traceparent(): string {
    const carrier: Record<string, string> = {}
    W3C.inject(trace.setSpan(ROOT_CONTEXT, this.otel), carrier, defaultTextMapSetter)
    return carrier['traceparent'] ?? ''
  }

  set(attributes: SpanAttributes): void {
    this.otel.setAttributes(attributes)
  }

  link(other: Span): void {
    this.otel.addLink({ context: (other as ManualSpan).otel.spanContext() })
  }

  end(error?: unknown): void {
    if (error !== undefined) {
      this.otel.setStatus({ code: SpanStatusCode.ERROR })
      this.otel.setAttribute('error.type', errorType(error))
    }
    this.otel.end()
    this.hasEnded = true
  }

  hasEnded = false
}

/** What kind of error it is. Its message may contain values of rows, so it is left out. */
function errorType(error: unknown): string {
  if (error instanceof Failure) return error.code
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'Error'
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Config): Sampler {
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

/** Traces that go to `endpoint` by OTLP over HTTP, as JSON. Other settings of the exporter are its own `OTEL_*` ones. */
export function openTracing(config: Config, endpoint: string): Tracing {
  const resource = defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(
      resourceFromAttributes({
        'service.name': config.OTEL_SERVICE_NAME,
        'service.version': VERSION,
        'process.pid': process.pid,
      }),
    )
  const headers = parseKeyPairsIntoRecord(config.OTEL_EXPORTER_OTLP_HEADERS?.reveal())
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers })
  const provider = new BasicTracerProvider({
    resource,
    sampler: samplerOf(config),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  return new OtlpTracing(provider)
}

class OtlpTracing implements Tracing {
  readonly #provider: BasicTracerProvider
  readonly #tracer: Tracer
  readonly #current = new AsyncLocalStorage<ManualSpan | undefined>()

  constructor(provider: BasicTracerProvider) {
    this.#provider = provider
    this.#tracer = provider.getTracer('svc')
  }

  current(): ManualSpan | undefined {
    const span = this.#current.getStore()
    return span?.hasEnded ? undefined : span
  }

  start(name: string, options: SpanOptions = {}): ManualSpan {
    const { kind, remote, attributes = {}, links = [] } = options
    const parent = 'parent' in options ? options.parent : this.current()
    const context = remote
      ? W3C.extract(ROOT_CONTEXT, remote, defaultTextMapGetter)
      : parent
        ? trace.setSpan(ROOT_CONTEXT, (parent as ManualSpan).otel)
        : ROOT_CONTEXT
    const span = this.#tracer.startSpan(
      name,
      {
        kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
        attributes,
        links: links.map((link) => ({ context: (link as ManualSpan).otel.spanContext() })),
      },
      context,
    )
    return new ManualSpan(span)
  }

  within<T>(span: Span | undefined, work: () => T): T {
    return this.#current.run(span as ManualSpan | undefined, work)
  }

  async close(limitMs: number): Promise<void> {
    const end = new AbortController()
    const limit = sleep(limitMs, undefined, { signal: end.signal, ref: false }).catch(() => undefined)
    await Promise.race([this.#provider.shutdown().catch(() => undefined), limit])
    end.abort()
  }
}
