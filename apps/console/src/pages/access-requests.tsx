import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { queryClient } from '../session.ts'
import { sentenceCase } from '../words.ts'

type AccessRequest = Schemas['AccessRequest']

export const ACCESS_REQUESTS = ['access requests']

const KINDS: Readonly<Record<AccessRequest['kind'], string>> = {
  link: 'Link to choose a password',
  role: 'Role',
  enable: 'Return of an administrator',
  passkeys: 'Removal of all passkeys',
  second_factor: 'Reset of the authenticator app',
  identity: 'Unlink from single sign-on',
  member_second_factor: 'Reset of the authenticator app of a member',
  member_link: 'Link for a member of a tenant',
  member_role: 'More rights for a member of a tenant',
  member_enable: 'Return of a disabled member of a tenant',
}

/** Says where a change waits for a second administrator. */
export async function reportWaiting({ approvalId }: { readonly approvalId?: string }): Promise<void> {
  if (approvalId === undefined) return
  notifications.show({
    title: 'Waits for approval',
    message: 'A second administrator must approve this change under Operators.',
  })
  await queryClient.invalidateQueries({ queryKey: ACCESS_REQUESTS })
}

const COLUMNS: readonly Column<AccessRequest>[] = [
  { title: 'Operator', cell: ({ name }) => name },
  {
    title: 'Change',
    cell: ({ kind, role }) => (role === undefined ? KINDS[kind] : `${KINDS[kind]}: ${sentenceCase(role)}`),
  },
  { title: 'Requested by', cell: ({ requestedBy }) => requestedBy },
  { title: 'Requested', cell: ({ requestedOn }) => <Instant at={requestedOn} /> },
  { title: 'Expires', cell: ({ expiresOn }) => <Instant at={expiresOn} /> },
  { title: '', align: 'right', cell: (request) => <Decisions request={request} /> },
]

/** Changes of operators that wait for a second administrator; nothing when there are none. */
export function AccessRequests() {
  const requests = useQuery({
    queryKey: ACCESS_REQUESTS,
    queryFn: () => responseOf(api.GET('/operators/requests', {})),
  })
  if (requests.data?.data.length === 0) return null
  return (
    <Section title="Waiting for a second administrator">
      <Loaded query={requests}>
        {({ data }) => (
          <DataTable
            caption="Changes of operators that wait for approval"
            columns={COLUMNS}
            rows={data}
            rowKey={({ approvalId }) => approvalId}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Decisions({ request: { approvalId, name, requestedBy } }: { readonly request: AccessRequest }) {
  const params = { path: { approvalId } }
  const changed = async () => {
    for (const queryKey of [ACCESS_REQUESTS, ['operators'], ['invitations']])
      await queryClient.invalidateQueries({ queryKey })
  }
  return (
    <>
      <ConfirmAction
        label="Approve"
        confirm={`Approve the change of ${name}`}
        compact
        run={async () => {
          await responseOf(api.POST('/operators/requests/{approvalId}/approve', { params }))
          await changed()
        }}
      >
        {requestedBy} requested it. Approve it only if you know why: it happens at once.
      </ConfirmAction>{' '}
      <ConfirmAction
        label="Reject"
        confirm={`Reject the change of ${name}`}
        danger
        compact
        run={async () => {
          await responseOf(api.POST('/operators/requests/{approvalId}/reject', { params }))
          await changed()
        }}
      >
        Nothing changes for {name}.
      </ConfirmAction>
    </>
  )
}
