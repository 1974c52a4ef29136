import { Alert, Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, responseOf } from '../api.ts'
import { APP } from '../app.ts'
import { useIsReached } from '../connection.ts'
import { queryClient } from '../session.ts'

const RETRY_MS = 3_000
const VERSION_CHECK_MS = 300_000

/** What concerns every page: the service is unreachable, or has a newer console. */
export function Notices() {
  return (
    <>
      <Unreachable />
      <NewVersion />
    </>
  )
}

/** Tries again until the service responds, then loads again what is shown. */
function Unreachable() {
  const reached = useIsReached()
  const { refetch } = useQuery({
    queryKey: ['reach'],
    queryFn: () => responseOf(api.GET('/about')),
    enabled: !reached,
    retry: false,
    refetchInterval: RETRY_MS,
    refetchIntervalInBackground: true,
    gcTime: 0,
  })
  useEffect(() => {
    if (!reached) return () => void queryClient.invalidateQueries()
    return undefined
  }, [reached])
  if (reached) return undefined
  return (
    <Alert mb="sm" color="orange" role="status" title="The service cannot be reached">
      <Group justify="space-between" gap="xs">
        What is shown may be out of date. Forms keep what you typed; the {APP} tries again every{' '}
        {RETRY_MS / 1_000} seconds.
        <Button size="compact-sm" variant="default" onClick={() => void refetch()}>
          Try now
        </Button>
      </Group>
    </Alert>
  )
}

/** The page's own script, by its name, which holds a hash of its content. */
const scriptOf = (page: Document): string | undefined =>
  page.querySelector('script[type="module"][src]')?.getAttribute('src') ?? undefined

async function isOutdated(): Promise<boolean> {
  const response = await fetch(import.meta.env.BASE_URL, { headers: { accept: 'text/html' } })
  if (!response.ok) return false
  const latest = scriptOf(new DOMParser().parseFromString(await response.text(), 'text/html'))
  return latest !== undefined && latest !== scriptOf(document)
}

function NewVersion() {
  const { data: outdated, refetch } = useQuery({
    queryKey: ['console-version'],
    queryFn: isOutdated,
    // The page that is open is the latest one when it is opened.
    initialData: false,
    staleTime: 0,
    refetchInterval: VERSION_CHECK_MS,
    refetchOnMount: false,
    refetchOnWindowFocus: 'always',
  })
  useEffect(() => {
    // A script that is gone was replaced by an upgrade.
    const check = () => void refetch()
    window.addEventListener('vite:preloadError', check)
    return () => window.removeEventListener('vite:preloadError', check)
  }, [refetch])
  if (!outdated) return undefined
  return (
    <Alert mb="sm" color="blue" role="status" title={`A new version of the ${APP} is available`}>
      <Group justify="space-between" gap="xs">
        Reload to use it. What you typed into open forms is lost then.
        <Button size="compact-sm" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </Group>
    </Alert>
  )
}
