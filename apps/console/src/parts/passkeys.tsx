import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { addPasskey, type OwnAccount, proveWithPasskey } from '../passkey.ts'
import { queryClient } from '../session.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'
import { secondFactorQuery } from './second-factor.tsx'

type Passkey = Schemas['Passkey']

const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: () => responseOf(api.GET('/session/passkeys')),
})

interface Of<Session> {
  readonly account: OwnAccount<Session>
}

const changed = <Session,>({ refreshSession }: OwnAccount<Session>) =>
  Promise.all([queryClient.invalidateQueries({ queryKey: passkeysQuery.queryKey }), refreshSession()])

const columns = <Session,>(account: OwnAccount<Session>): readonly Column<Passkey>[] => [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Created', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Last used', cell: ({ lastUsedOn }) => <Instant at={lastUsedOn} /> },
  { title: '', align: 'right', cell: (passkey) => <Remove passkey={passkey} account={account} /> },
]

/** The passkeys of the person who is signed in. */
export function Passkeys<Session>({ account }: Of<Session>) {
  const passkeys = useQuery(passkeysQuery)
  const isOn = account.usePasskeysOn()
  return (
    <Section title="Passkeys" aside={isOn && <AddPasskey account={account} />}>
      <Loaded query={passkeys}>
        {({ data }) => (
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              {isOn
                ? 'Sign in with your fingerprint, face or PIN, without a password. The key stays in your device or password manager.'
                : 'Passkeys are not possible at this address: browsers allow them for host names, over TLS or on this machine.'}
            </Text>
            {data.length > 0 && (
              <DataTable
                caption="Passkeys"
                columns={columns(account)}
                rows={data}
                rowKey={({ passkeyId }) => passkeyId}
              />
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

function AddPasskey<Session>({ account }: Of<Session>) {
  return (
    <FormDialog
      label="Add passkey"
      send="Continue"
      variant="default"
      initial={{ name: '' }}
      rules={{ name: needed }}
      fields={(form) => (
        <TextInput
          label="Name"
          description="To distinguish it from the others, such as the device"
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
      )}
      submit={async ({ name }) => {
        await addPasskey(name)
        await changed(account)
      }}
    />
  )
}

interface RemoveProps<Session> extends Of<Session> {
  readonly passkey: Passkey
}

function Remove<Session>({ passkey: { passkeyId, name }, account }: RemoveProps<Session>) {
  return (
    <ConfirmAction
      label="Remove"
      confirm={`Remove ${name}`}
      danger
      compact
      run={async () => {
        await responseOf(api.DELETE('/session/passkeys/{passkeyId}', { params: { path: { passkeyId } } }))
        await changed(account)
      }}
    >
      You can no longer sign in with <b>{name}</b>. Delete it in your device or password manager too.
    </ConfirmAction>
  )
}

interface FactorNeededProps<Session> extends Of<Session> {
  readonly proved: (session: Session) => void
  /** Who removes a second factor that is lost. */
  readonly resetBy: string
}

/** How to get on: with the second factor that is there, or by setting up the first one. */
export function FactorNeeded<Session>({ account, proved, resetBy }: FactorNeededProps<Session>) {
  const isOn = account.usePasskeysOn()
  const passkeys = useQuery(passkeysQuery)
  const app = useQuery(secondFactorQuery)
  const prove = useMutation({ mutationFn: () => proveWithPasskey(account), onSuccess: proved })
  if (!passkeys.data || !app.data) return null
  const hasPasskey = passkeys.data.data.length > 0
  if (!hasPasskey && !app.data.isOn)
    return (
      <Alert color="yellow" title="Set up a second factor">
        A password alone is not enough for you: add an authenticator app or a passkey.
      </Alert>
    )
  return (
    <Alert color="yellow" title="Use your second factor">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          Your password alone is not enough.{' '}
          {app.data.isOn && 'Sign out, and sign in with a code of your authenticator app. '}
          If you have lost your second factor, {resetBy} can remove it.
        </Text>
        {prove.error && <FailureAlert failed={prove.error} />}
        {hasPasskey && isOn && (
          <Button loading={prove.isPending} onClick={() => prove.mutate()}>
            Use your passkey
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
