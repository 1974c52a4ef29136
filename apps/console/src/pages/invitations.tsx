import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { reportWaiting } from './access-requests.tsx'

type Invitation = Schemas['Invitation']

const QUERY_KEY = ['invitations']
const changed = () => queryClient.invalidateQueries({ queryKey: QUERY_KEY })

const HOURS = [
  { value: '8', label: '8 hours' },
  { value: '24', label: '1 day' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
]

interface InviteOperatorProps {
  readonly roles: readonly { readonly value: Invitation['role']; readonly label: string }[]
}

/** A button that creates an invitation and shows its link once. */
export function InviteOperator({ roles }: InviteOperatorProps) {
  const [link, setLink] = useState<string>()
  return (
    <>
      <FormDialog
        label="Invite operator"
        send="Invite"
        initial={{ name: '', role: 'viewer' as Invitation['role'], hours: '72' }}
        rules={{
          name: (value: string) =>
            /^[a-z0-9][a-z0-9._@-]{1,63}$/.test(value) ? null : '2 to 64 small letters, digits and . _ @ -',
        }}
        fields={(form) => (
          <>
            <TextInput
              label="Name"
              description="With it they sign in; for single sign-on the e-mail address"
              autoComplete="off"
              autoCapitalize="none"
              data-autofocus
              {...form.getInputProps('name')}
            />
            <Select label="Role" data={roles} allowDeselect={false} {...form.getInputProps('role')} />
            <Select
              label="The link works for"
              data={HOURS}
              allowDeselect={false}
              {...form.getInputProps('hours')}
            />
          </>
        )}
        submit={async ({ name, role, hours }) => {
          const created = await responseOf(
            api.POST('/operators/invitations', { body: { name, role, hours: Number(hours) } }),
          )
          setLink(created.link)
          await reportWaiting(created)
          await changed()
        }}
      />
      <SecretOnce
        what="invitation link"
        secret={link}
        lost="Send it to this person only: it works once. If it is lost, revoke the invitation and invite again."
        onDone={() => setLink(undefined)}
      />
    </>
  )
}

/** For a person who lost the password: they alone choose another one. */
export function PasswordLink({ operatorId, name }: { readonly operatorId: string; readonly name: string }) {
  const [link, setLink] = useState<string>()
  return (
    <>
      <ConfirmAction
        label="Password"
        confirm={`Make a link for another password of ${name}`}
        compact
        run={async () => {
          const params = { path: { operatorId } }
          const created = await responseOf(api.POST('/operators/{operatorId}/link', { params, body: {} }))
          setLink(created.link)
          await reportWaiting(created)
          await changed()
        }}
      >
        With the link {name} chooses another password, which ends all their sessions. A second factor stays.
        Make sure that it is {name} who asks.
      </ConfirmAction>
      <SecretOnce
        what="password link"
        secret={link}
        lost="Send it to this person only: it works once. If it is lost, make another one."
        onDone={() => setLink(undefined)}
      />
    </>
  )
}

const COLUMNS: readonly Column<Invitation>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Role', cell: ({ role }) => sentenceCase(role) },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Invited by', cell: ({ createdBy }) => createdBy },
  { title: 'Created', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Expires', cell: ({ expiresOn }) => <Instant at={expiresOn} /> },
  { title: '', align: 'right', cell: (invitation) => <Revoke invitation={invitation} /> },
]

/** Invitations that were neither accepted nor revoked; nothing when there are none. */
export function Invitations() {
  const invitations = useQuery({
    queryKey: QUERY_KEY,
    queryFn: () => responseOf(api.GET('/operators/invitations', { params: { query: { limit: 500 } } })),
  })
  if (invitations.data?.data.length === 0) return null
  return (
    <Section title="Invitations">
      <Loaded query={invitations}>
        {({ data }) => (
          <DataTable
            caption="Invitations"
            columns={COLUMNS}
            rows={data}
            rowKey={({ invitationId }) => invitationId}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Revoke({ invitation: { invitationId, name } }: { readonly invitation: Invitation }) {
  return (
    <ConfirmAction
      label="Revoke"
      confirm={`Revoke the invitation of ${name}`}
      danger
      compact
      run={async () => {
        const params = { path: { invitationId } }
        await responseOf(api.DELETE('/operators/invitations/{invitationId}', { params }))
        await changed()
      }}
    >
      The link that {name} got stops working at once.
    </ConfirmAction>
  )
}
