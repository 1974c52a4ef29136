import { useSyncExternalStore } from 'react'
import { asCallFailed, isUnreachable } from './failure.ts'

/** Whether the latest call reached the service. */
let reached = true
const listeners = new Set<() => void>()

function settle(now: boolean): void {
  if (now === reached) return
  reached = now
  for (const report of listeners) report()
}

/** Notes whether a call reached the service; resolves or rejects as the call does. */
export async function watched<Result extends { readonly response: Response }>(
  call: Promise<Result>,
): Promise<Result> {
  try {
    const result = await call
    settle(!isUnreachable(result.response))
    return result
  } catch (error) {
    if (asCallFailed(error).code === 'not_reached') settle(false)
    throw error
  }
}

const subscribe = (report: () => void) => {
  listeners.add(report)
  return () => void listeners.delete(report)
}

export const useIsReached = (): boolean => useSyncExternalStore(subscribe, () => reached)
