/** The longest time that a timer of Node or a browser can wait; a longer one ends after 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Calls `end` after this time, however long, and never when it is infinite; what it returns stops that. */
export function callAfter(ms: number, end: () => void): () => void {
  if (ms === Number.POSITIVE_INFINITY) return () => undefined
  let timer: ReturnType<typeof setTimeout>
  const wait = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, TIMER_MS_MAX)
    timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : end()), stepMs)
  }
  wait(ms)
  return () => clearTimeout(timer)
}
