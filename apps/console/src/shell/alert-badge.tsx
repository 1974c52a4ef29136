import { Box, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { WarningIcon } from '../parts/icons.tsx'
import { useSession } from '../session.ts'

const REFRESH_MS = 30_000
const READ = '50'
const SHOWN_MAX = 99

/** The number of alerts that are not acknowledged; nothing if there are none. */
export function AlertBadge() {
  const { secondFactorNeeded } = useSession()
  const { data } = useQuery({
    queryKey: ['alerts', 'open'],
    queryFn: () =>
      responseOf(api.GET('/alerts', { params: { query: { status: 'open', limit: READ } } as never })),
    enabled: !secondFactorNeeded,
    refetchInterval: REFRESH_MS,
  })
  const open = data?.total.count ?? 0
  if (open === 0) return undefined
  const critical = data?.data.some(({ severity }) => severity === 'critical') ?? false
  return (
    <Button
      component={Link}
      to="/alerts"
      search={{ status: 'open' } as never}
      variant="light"
      color={critical ? 'red' : 'orange'}
      px={8}
      aria-label={`${open} open ${open === 1 ? 'alert' : 'alerts'}${critical ? ', critical ones among them' : ''}`}
    >
      <Box component="span" visibleFrom="sm" mr={6} display="flex">
        <WarningIcon />
      </Box>
      {open > SHOWN_MAX ? `${SHOWN_MAX}+` : open}
    </Button>
  )
}
