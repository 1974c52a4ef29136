import type { Span, Tracing } from '../tracing.ts'
import type { Entry } from './command-spec.ts'

/** The span of a command from its arrival in the queue to its outcome; none where its caller is in no trace. */
export const commandSpan = (
  tracing: Tracing | undefined,
  command: string,
  tenantId: string,
): Span | undefined =>
  tracing?.current() && tracing.start(`command ${command}`, { attributes: { 'svc.tenant_id': tenantId } })

interface Attempted {
  readonly queue: string
  readonly batchId: string
  readonly entries: readonly Pick<Entry, 'span'>[]
}

/**
 * Runs one attempt of a batch as a span. A batch has one parent, its first command; it and the commands of all other
 * requests that share it are linked in both directions.
 */
export async function withBatchSpan<T>(
  tracing: Tracing,
  { queue, batchId, entries }: Attempted,
  work: () => Promise<T>,
): Promise<T> {
  const [parent, ...others] = entries.flatMap(({ span }) => span ?? [])
  // Also without a span: the batch was perhaps started by a request that is not part of it.
  if (!parent) return tracing.within(undefined, work)
  const attributes = { 'svc.queue': queue, 'svc.batch.id': batchId, 'svc.batch.size': entries.length }
  const span = tracing.start(`batch ${queue}`, { parent, links: others, attributes })
  for (const other of others) other.link(span)
  try {
    const result = await tracing.within(span, work)
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
