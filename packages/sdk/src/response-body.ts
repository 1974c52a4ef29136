import type { AttemptLimit } from './deadline.ts'
import { callAfter } from './timer.ts'

/** How long a stream may be silent. The service sends events a sign of life every 15 s, and records without a pause. */
const SILENT_MS_MAX = 45_000

/** One that would take the token to another server. Browsers hide its status. */
export const isRedirect = ({ status, type }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)

/** Whether the response says that it is of this media type. */
export const hasType = ({ headers }: Response, mediaType: string): boolean =>
  headers.get('content-type')?.split(';', 1)[0]!.trim().toLowerCase() === mediaType

/** The same response with its body read, so that one that breaks off counts as none. */
export async function whole(response: Response): Promise<Response> {
  const bytes = await response.arrayBuffer()
  return withBody(response, bytes.byteLength > 0 ? bytes : null)
}

/**
 * The same response, whose body is read as it comes. The limit ends it when nothing arrives for long, and is released when
 * it has ended, broken off or been cancelled. A read that fails, fails with what `errorOf` makes of the cause.
 */
export function asStream(
  response: Response,
  limit: AttemptLimit,
  errorOf: (cause: unknown) => unknown,
): Response {
  const reader = response.body?.getReader()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    // Only during a read: a slow reader does not make the service silent.
    const stop = callAfter(SILENT_MS_MAX, () => limit.end(silent()))
    try {
      const { done, value } = await reader!.read()
      if (!done) return controller.enqueue(value)
      controller.close()
    } catch (error) {
      controller.error(errorOf(error))
    } finally {
      stop()
    }
    limit.release()
  }
  const cancel = (reason: unknown): Promise<void> => {
    limit.release()
    return reader!.cancel(reason)
  }
  if (!reader) limit.release()
  const body = reader ? new ReadableStream({ pull, cancel }, { highWaterMark: 0 }) : null
  return withBody(response, body)
}

const silent = () => new DOMException(`nothing arrived for ${SILENT_MS_MAX} ms`, 'TimeoutError')

/** The same response with another body. */
export function withBody(
  { status, statusText, headers, url }: Response,
  body: string | ArrayBuffer | ReadableStream | null,
): Response {
  const response = new Response(body, { status, statusText, headers })
  Object.defineProperty(response, 'url', { value: url })
  return response
}
