import { useQuery } from '@tanstack/react-query'
import { useSession } from '../session.ts'
import { WAITS_AT, waitingQuery } from '../waiting.ts'
import { type Area, isIn, type Place, placeAt } from './area.ts'
import { AreaMenu } from './area-menu.tsx'
import { PlaceTabs } from './place-tabs.tsx'

const REFRESH_MS = 60_000

/** How much waits for the operator at the addresses that fit. */
function useWaiting(): (isThere: (pathname: string) => boolean) => number {
  const { secondFactorNeeded } = useSession()
  const { data } = useQuery({
    ...waitingQuery,
    enabled: !secondFactorNeeded,
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
  })
  return (isThere) =>
    (data?.items ?? [])
      .filter(({ item }) => isThere(WAITS_AT[item]))
      .reduce((sum, { count }) => sum + count, 0)
}

interface OfAreas {
  readonly areas: readonly Area[]
}

/** The places of the console, each with the number of what waits there for the operator. */
export function Navigation({ areas, onGo }: OfAreas & { readonly onGo: () => void }) {
  const waiting = useWaiting()
  const waitingAt = (place: Place) =>
    waiting((pathname) => placeAt(areas, { pathname, search: {} }) === place)
  return <AreaMenu areas={areas} waitingAt={waitingAt} onGo={onGo} />
}

/** The pages of the current place, each with the number of what waits on it. */
export function Tabs({ areas }: OfAreas) {
  const waiting = useWaiting()
  return <PlaceTabs areas={areas} waitingAt={({ to }) => waiting((pathname) => isIn(pathname, to))} />
}
