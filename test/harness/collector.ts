import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span, as OTLP writes it in JSON. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[]
  readonly links?: readonly { readonly spanId: string; readonly traceId: string }[]
}

interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[]
  }[]
}

/** Stands in for a collector of OpenTelemetry: keeps the spans that come as OTLP over HTTP in JSON. */
export class Collector {
  readonly #server: Server
  readonly spans: CollectedSpan[] = []
  /** What came, as text. */
  text = ''
  /** Of each export: its credentials and its tenant. */
  readonly senders = new Set<string>()

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const text = Buffer.concat(parts).toString()
        this.text += text
        this.senders.add(`${request.headers.authorization} for ${request.headers['x-tenant']}`)
        const { resourceSpans } = JSON.parse(text) as Export
        for (const { scopeSpans } of resourceSpans)
          for (const { spans } of scopeSpans) this.spans.push(...spans)
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
    })
  }

  static async open(): Promise<Collector> {
    const collector = new Collector()
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve))
    return collector
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  ofTrace(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** A trace as a tree, a line for each span in order of start, with its attributes but those that differ between runs. */
export function drawTrace(spans: readonly CollectedSpan[]): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const begun = (span: CollectedSpan) => BigInt(span.startTimeUnixNano)
  const draw = (span: CollectedSpan, depth: number): string[] => [
    `${'  '.repeat(depth)}${span.name}`,
    ...spans
      .filter(({ parentSpanId }) => parentSpanId === span.spanId)
      .sort((a, b) => Number(begun(a) - begun(b)))
      .flatMap((child) => draw(child, depth + 1)),
  ]
  return spans
    .filter(({ parentSpanId }) => !parentSpanId || !known.has(parentSpanId))
    .sort((a, b) => Number(begun(a) - begun(b)))
    .flatMap((root) => draw(root, 0))
}
