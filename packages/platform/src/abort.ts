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

/** Settles as `work` does, or rejects with the signal's reason when that aborts first. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
