import { isKind, type Kind } from './objects.ts'

export interface Recent {
  readonly kind: Kind
  readonly id: string
  readonly title: string
}

/** Console and portal may follow each other in one tab. */
const KEY = `svc.recent ${import.meta.env.BASE_URL}`
const RECENT_MAX = 8

const isRecent = (value: unknown): value is Recent => {
  if (typeof value !== 'object' || value === null) return false
  const { kind, id, title } = value as Record<string, unknown>
  return typeof kind === 'string' && isKind(kind) && typeof id === 'string' && typeof title === 'string'
}

/** What was opened from the search, newest first. Titles may name people, so they end with the tab. */
export function recentItems(): readonly Recent[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isRecent) : []
  } catch {
    return []
  }
}

export function rememberItem({ kind, id, title }: Recent): void {
  const others = recentItems().filter((item) => item.kind !== kind || item.id !== id)
  sessionStorage.setItem(KEY, JSON.stringify([{ kind, id, title }, ...others].slice(0, RECENT_MAX)))
}

export const forgetItems = (): void => sessionStorage.removeItem(KEY)
