import { useQuery } from '@tanstack/react-query'
import { useSession } from '../session.ts'
import { WAITS_AT, waitingQuery } from '../waiting.ts'
import type { Area, Place } from './area.ts'
import { AreaMenu } from './area-menu.tsx'

const REFRESH_MS = 60_000

/** The places of the console, each with the number of what waits there for the operator. */
export function Navigation({ areas, onGo }: { readonly areas: readonly Area[]; readonly onGo: () => void }) {
  const { secondFactorNeeded } = useSession()
  const { data } = useQuery({
    ...waitingQuery,
    enabled: !secondFactorNeeded,
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
  })
  const waitingAt = ({ search, to }: Place) =>
    search
      ? 0
      : (data?.items ?? [])
          .filter(({ item }) => WAITS_AT[item] === to || WAITS_AT[item].startsWith(`${to}/`))
          .reduce((sum, { count }) => sum + count, 0)
  return <AreaMenu areas={areas} waitingAt={waitingAt} onGo={onGo} />
}
