import { Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { queryClient } from '../session.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'

type OwnSession = Schemas['OwnSession']

const QUERY_KEY = ['sessions']
const changed = () => queryClient.invalidateQueries({ queryKey: QUERY_KEY })

/** Where a session is, and since when. */
export const SESSION_COLUMNS: readonly Column<OwnSession>[] = [
  { title: 'Browser', cell: ({ browser }) => browser },
  { title: 'Address', cell: ({ address }) => address },
  { title: 'Signed in', cell: ({ signedInOn }) => <Instant at={signedInOn} /> },
  { title: 'Last used', cell: ({ lastUsedOn }) => <Instant at={lastUsedOn} /> },
]

const COLUMNS: readonly Column<OwnSession>[] = [
  ...SESSION_COLUMNS,
  { title: '', align: 'right', cell: (session) => <EndOne session={session} /> },
]

/** Where the person is signed in, and how to sign out elsewhere. */
export function OwnSessions() {
  const sessions = useQuery({ queryKey: QUERY_KEY, queryFn: () => responseOf(api.GET('/sessions')) })
  const others = (sessions.data?.data ?? []).filter(({ isCurrent }) => !isCurrent)
  return (
    <Section title="Your sessions" aside={others.length > 0 && <EndOthers />}>
      <Loaded query={sessions}>
        {({ data }) => (
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              Where you are signed in. If you do not recognize a session, end it and change your password.
            </Text>
            <DataTable
              caption="Your sessions"
              columns={COLUMNS}
              rows={data}
              rowKey={({ sessionId }) => sessionId}
            />
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

interface EndOneProps {
  readonly session: OwnSession
}

function EndOne({ session: { sessionId, isCurrent, browser, address } }: EndOneProps) {
  if (isCurrent)
    return (
      <Group justify="flex-end">
        <Badge variant="light">This one</Badge>
      </Group>
    )
  return (
    <ConfirmAction
      label="Sign out"
      confirm="End this session"
      danger
      compact
      run={async () => {
        await responseOf(api.DELETE('/sessions/{sessionId}', { params: { path: { sessionId } } }))
        await changed()
      }}
    >
      {browser} at {address} is signed out at once.
    </ConfirmAction>
  )
}

function EndOthers() {
  return (
    <ConfirmAction
      label="Sign out everywhere else"
      confirm="End all other sessions"
      danger
      compact
      run={async () => {
        await responseOf(api.DELETE('/sessions'))
        await changed()
      }}
    >
      All your other sessions end at once. You stay signed in here.
    </ConfirmAction>
  )
}
