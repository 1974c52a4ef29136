import { Button, Center, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, responseOf } from '../api.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { PLACE_AFTER } from '../parts/single-sign-on.tsx'
import { placeAfter } from '../place-after.ts'
import { keepSession } from '../session.ts'
import { startOf } from '../shell/areas.ts'

/** Where the identity provider leads the browser back to. */
export function FinishSingleSignOn() {
  useDocumentTitle('Sign in · svc console')
  const router = useRouter()
  const [response] = useState(() => window.location.search.slice(1))
  const finished = useQuery({
    queryKey: ['single sign-on', response],
    queryFn: () => responseOf(api.POST('/session/oidc', { body: { response } })),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const session = finished.data
  useEffect(() => {
    if (!session) return
    keepSession(session)
    const place = placeAfter(sessionStorage.getItem(PLACE_AFTER), startOf(session.operator.role))
    sessionStorage.removeItem(PLACE_AFTER)
    // Replaces the address with the provider's response in the history of the browser.
    router.history.replace(`/console${place}`)
  }, [session, router])
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <Title order={1} size="h2">
            svc console
          </Title>
          {finished.error ? (
            <>
              <FailureAlert failed={finished.error} />
              <Text c="dimmed">
                You are not signed in. Each attempt works once, in the browser that began it.
              </Text>
              <Button component={Link} to="/sign-in" variant="default">
                Back to the sign-in
              </Button>
            </>
          ) : (
            <Stack align="center" role="status" aria-label="Loading">
              <Loader />
            </Stack>
          )}
        </Stack>
      </Paper>
    </Center>
  )
}
