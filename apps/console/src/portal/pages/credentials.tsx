import { PasswordInput, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { responseOf } from '../../api.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Id } from '../../parts/thing-link.tsx'
import { useSession } from '../../session.ts'
import { api, type Schemas } from '../api.ts'
import { changed, useMember } from '../session.ts'

type Row = Schemas['Credential']

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Name', cell: ({ name }) => name },
  {
    title: 'Id',
    cell: ({ credentialId, prefix }) => (
      <>
        <Id id={credentialId} what="id" />
        {prefix && (
          <Text size="xs" c="dimmed" ff="monospace">
            {prefix}…
          </Text>
        )}
      </>
    ),
  },
  { title: 'Status', cell: ({ revokedOn }) => <StatusBadge state={revokedOn ? 'REVOKED' : 'ACTIVE'} /> },
  { title: 'Issued', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'What to do', cell: (row) => <Revoke credential={row} /> },
]

export function Credentials() {
  const { can, kind } = useMember()
  const credentials = useQuery({
    queryKey: ['credentials'],
    queryFn: () => responseOf(api.GET('/credentials')),
  })
  const what = kind === 'merchant' ? 'API key' : 'OAuth client'
  return (
    <Page
      title={`${what}s`}
      lead="With them your programs get tokens. To change one: issue another, give it to the program, revoke the first."
      actions={can('admin') && <Issue what={what} />}
    >
      <Section title={`Your ${what}s`}>
        <Loaded query={credentials}>
          {({ data }) => (
            <DataTable
              caption={`${what}s`}
              columns={COLUMNS}
              rows={data}
              rowKey={(row) => row.credentialId}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}

function Issue({ what }: { readonly what: string }) {
  const { mode } = useSession()
  const [issued, setIssued] = useState<Schemas['IssuedCredential']>()
  return (
    <>
      <FormDialog
        label={`Issue ${what}`}
        send="Issue"
        initial={{ name: '', password: '' }}
        rules={{ name: needed, ...(mode === 'live' && { password: needed }) }}
        fields={(form) => (
          <>
            <TextInput
              label="Name"
              description="The program that will use it"
              data-autofocus
              {...form.getInputProps('name')}
            />
            <PasswordInput
              label="Your password"
              description={mode === 'sandbox' ? 'Empty if you entered the sandbox by a click' : undefined}
              autoComplete="current-password"
              {...form.getInputProps('password')}
            />
          </>
        )}
        submit={async (body) => {
          setIssued(await responseOf(api.POST('/credentials', { body })))
          await changed('credentials')
        }}
      />
      <SecretOnce
        what={what}
        secret={issued?.secret}
        beside={issued ? [{ label: 'Id', value: issued.credentialId }] : []}
        onDone={() => setIssued(undefined)}
      />
    </>
  )
}

function Revoke({ credential: { credentialId, name, revokedOn } }: { readonly credential: Row }) {
  const { can } = useMember()
  if (revokedOn !== undefined || !can('admin')) return '–'
  return (
    <ConfirmAction
      label="Revoke"
      confirm="Revoke it for good"
      danger
      compact
      typed={name}
      run={async () => {
        await responseOf(api.DELETE('/credentials/{credentialId}', { params: { path: { credentialId } } }))
        await changed('credentials')
      }}
    >
      Programs that use <b>{name}</b> are refused from now on. This cannot be undone.
    </ConfirmAction>
  )
}
