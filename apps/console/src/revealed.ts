import { queryClient } from './session.ts'

const KEY = 'svc.revealed'
const REVEALED_MS = 15 * 60_000

/** When what was revealed is masked again, by object, in milliseconds since the epoch of this browser. */
type Ends = Readonly<Record<string, number>>

function storedEnds(): Ends {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '{}')
    return typeof stored === 'object' && stored !== null ? (stored as Ends) : {}
  } catch {
    return {}
  }
}

/** Forgets what the page knows of the object, and loads again what is on the screen. */
function hide(id: string): void {
  const { [id]: _, ...others } = storedEnds()
  sessionStorage.setItem(KEY, JSON.stringify(others))
  void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey.includes(id) })
}

const hideAt = (id: string, endMs: number) => setTimeout(hide, Math.max(0, endMs - Date.now()), id)

/**
 * The object was revealed just now: pages that stay open show it no longer than the service would. Counted from the
 * response and not by its `until`, since the clocks of browser and service may differ.
 */
export function hideLater(id: string): void {
  const endMs = Date.now() + REVEALED_MS
  sessionStorage.setItem(KEY, JSON.stringify({ ...storedEnds(), [id]: endMs }))
  hideAt(id, endMs)
}

// The page may have been loaded again since.
for (const [id, endMs] of Object.entries(storedEnds())) hideAt(id, endMs)
