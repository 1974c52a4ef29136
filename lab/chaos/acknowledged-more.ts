import { setTimeout as sleep } from 'node:timers/promises'
import type { Load } from './load.ts'

/** Resolves once this many more things were acknowledged: the load is through the fault. */
export async function acknowledgedMore(
  { load }: { readonly load: Load },
  more: number,
  withinMs = 60_000,
): Promise<boolean> {
  const count = () => load.record.replayable.length
  const before = count()
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(10))
    if (count() >= before + more) return true
  return false
}
