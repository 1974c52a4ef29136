import { amountRange } from './amount-range.ts'
import { dayOf, startOfDay } from './business-day.ts'
import type { Search } from './list-search.ts'
import type { Filter } from './parts/filters.tsx'

const DAYS = 90
/** Before everything that was ever recorded. */
export const EVER = '2000-01-01T00:00:00.000Z'

/** The filter that is set without any of those that bound what is read for it. */
export const unbounded = (search: Search, filters: readonly Filter[]): Filter | undefined =>
  filters.find(
    ({ name, kind, bounds }) =>
      bounds &&
      search[name] &&
      (kind !== 'amount' || amountRange(search[name])) &&
      !bounds.some((bound) => search[bound]),
  )

/** What an address asks of a list, as the service takes it: a filter that cannot be read is left out. */
export function listQuery(
  search: Search,
  filters: readonly Filter[],
  timeZone: string,
): Record<string, string> {
  const createdFrom =
    unbounded(search, filters) && startOfDay(dayOf(new Date().toISOString(), timeZone, -DAYS), timeZone)
  const amount = filters.find(({ kind }) => kind === 'amount')
  const plain = filters.filter((one) => one !== amount)
  const stated = ['sort', 'after', ...plain.map(({ name }) => name)]
  return {
    ...(createdFrom && { createdFrom }),
    ...Object.fromEntries(stated.flatMap((name) => (search[name] ? [[name, search[name]]] : []))),
    ...amountRange(search[amount?.name ?? ''] ?? ''),
  }
}
