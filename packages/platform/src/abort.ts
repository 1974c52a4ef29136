import { setMaxListeners } from 'node:events'

/**
 * Aborts a controller when a signal does. `AbortSignal.any` keeps a little of every signal that it makes for as long as
 * its sources live, and may lose a timeout that nothing else refers to; this leaves nothing once the controller has aborted.
 */
export function abortWith(controller: AbortController, signal: AbortSignal): void {
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) return abort()
  // Many may wait for one signal: Node takes more than ten for a leak.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true, signal: controller.signal })
}
