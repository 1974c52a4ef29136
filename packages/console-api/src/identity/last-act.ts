const IDLE_SECONDS = 'x-svc-idle-seconds'

/**
 * When the person behind a request last did something, in milliseconds since the epoch. A page that asks by itself says
 * how long ago that was; a request that says nothing is the person's own, of `nowMs`.
 */
export function lastActMs(headers: Readonly<Record<string, unknown>>, nowMs: number): number {
  const idle = headers[IDLE_SECONDS]
  return typeof idle === 'string' && /^\d{1,9}$/.test(idle) ? nowMs - Number(idle) * 1_000 : nowMs
}
