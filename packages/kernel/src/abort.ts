/**
 * Aborts a controller when a signal does. `AbortSignal.any` keeps a little of every signal that it makes for as long as
 * its sources live, and may lose a timeout that nothing else refers to; this leaves nothing once the controller has aborted.
 */
export function abortWith(controller: AbortController, signal: AbortSignal): void {
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true, signal: controller.signal })
}
