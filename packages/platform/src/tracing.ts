/** Values that describe a span: names, ids and figures, never bodies, secrets or personal data. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanOptions {
  /** By default work inside the service. */
  readonly kind?: 'server' | 'client'
  /** By default the current span; `undefined` begins a trace. */
  readonly parent?: Span | undefined
  /** The parent in another process: `traceparent` and `tracestate` of W3C Trace Context. */
  readonly remote?: { readonly traceparent?: string | undefined; readonly tracestate?: string | undefined }
  readonly attributes?: SpanAttributes
  readonly links?: readonly Span[]
}

/** One timed piece of work of a trace. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The header that hands it on (W3C Trace Context). */
  readonly traceparent: string
  set(attributes: SpanAttributes): void
  /** Refers to a span that is not an ancestor, such as a batch that several requests share. */
  link(other: Span): void
  /** With the error when the work failed. */
  end(error?: unknown): void
}

/** Traces by OpenTelemetry. Absent while it is off: then nothing of it is loaded. */
export interface Tracing {
  /** The span inside which the caller works, unless it has ended. */
  current(): Span | undefined
  start(name: string, options?: SpanOptions): Span
  /** Runs `work` inside a span, or inside none. */
  within<T>(span: Span | undefined, work: () => T): T
  /** Exports what waits, for so long at most, in milliseconds. */
  close(limitMs: number): Promise<void>
}

/** Runs `work` as a span of the current one; without a current one, or while tracing is off, only runs it. */
export async function traced<T>(
  tracing: Tracing | undefined,
  name: string,
  options: SpanOptions,
  work: () => Promise<T>,
): Promise<T> {
  if (!tracing?.current()) return work()
  const span = tracing.start(name, options)
  try {
    const result = await tracing.within(span, work)
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
