import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable, Framed } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { SESSION_COLUMNS } from '../parts/own-sessions.tsx'
import { Page } from '../parts/page.tsx'
import { queryClient } from '../session.ts'

type Session = Schemas['OperatorSession']

const QUERY = { queryKey: ['operator-sessions'], queryFn: () => responseOf(api.GET('/operators/sessions')) }

const COLUMNS: readonly Column<Session>[] = [
  { title: 'Operator', cell: ({ operatorName }) => operatorName },
  ...SESSION_COLUMNS,
  { title: 'Proved by', cell: ({ factors }) => factors.join(', ') },
  {
    title: '',
    align: 'right',
    cell: (session) =>
      session.isCurrent ? <Badge variant="light">This one</Badge> : <End session={session} />,
  },
]

/** Where the operators are signed in. */
export function Sessions() {
  const sessions = useQuery(QUERY)
  return (
    <Page
      title="Sessions"
      lead="Where operators are signed in. An operator who must not come back is disabled under Operators."
    >
      <Loaded query={sessions}>
        {({ data }) => (
          <Framed>
            <DataTable
              caption="Sessions"
              columns={COLUMNS}
              rows={data}
              rowKey={({ sessionId }) => sessionId}
            />
          </Framed>
        )}
      </Loaded>
    </Page>
  )
}

function End({ session: { address, browser, operatorName, sessionId } }: { readonly session: Session }) {
  return (
    <ConfirmAction
      label="Sign out"
      confirm={`Sign ${operatorName} out`}
      danger
      compact
      run={async () => {
        await responseOf(api.DELETE('/operators/sessions/{sessionId}', { params: { path: { sessionId } } }))
        await queryClient.invalidateQueries({ queryKey: QUERY.queryKey })
      }}
    >
      {operatorName}, {browser} at {address}, is signed out at once.
    </ConfirmAction>
  )
}
