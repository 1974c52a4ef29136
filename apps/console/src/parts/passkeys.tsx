import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Schemas } from '../api.ts'
import { addPasskey, type PasskeyCalls, proveWithPasskey } from '../passkey.ts'
import { queryClient } from '../session.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'
import { type FactorCalls, SECOND_FACTOR } from './second-factor.tsx'

type Passkey = Schemas['Passkey']

const PASSKEYS = ['passkeys']

interface Called<Session> {
  readonly calls: PasskeyCalls<Session>
}

const changed = <Session,>({ refreshSession }: PasskeyCalls<Session>) =>
  Promise.all([queryClient.invalidateQueries({ queryKey: PASSKEYS }), refreshSession()])

const columns = <Session,>(calls: PasskeyCalls<Session>): readonly Column<Passkey>[] => [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Created', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Last used', cell: ({ lastUsedOn }) => <Instant at={lastUsedOn} /> },
  { title: '', align: 'right', cell: (passkey) => <Remove passkey={passkey} calls={calls} /> },
]

/** The passkeys of the person who is signed in. */
export function Passkeys<Session>({ calls }: Called<Session>) {
  const passkeys = useQuery({ queryKey: PASSKEYS, queryFn: calls.list })
  const isOn = calls.useIsOn()
  return (
    <Section title="Passkeys" aside={isOn && <AddPasskey calls={calls} />}>
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
                columns={columns(calls)}
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

function AddPasskey<Session>({ calls }: Called<Session>) {
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
        await addPasskey(calls, name)
        await changed(calls)
      }}
    />
  )
}

interface RemoveProps<Session> extends Called<Session> {
  readonly passkey: Passkey
}

function Remove<Session>({ passkey: { passkeyId, name }, calls }: RemoveProps<Session>) {
  return (
    <ConfirmAction
      label="Remove"
      confirm={`Remove ${name}`}
      danger
      compact
      run={async () => {
        await calls.remove(passkeyId)
        await changed(calls)
      }}
    >
      You can no longer sign in with <b>{name}</b>. Delete it in your device or password manager too.
    </ConfirmAction>
  )
}

interface FactorNeededProps<Session> extends Called<Session> {
  readonly factors: FactorCalls
  readonly proved: (session: Session) => void
  /** Who removes a second factor that is lost. */
  readonly resetBy: string
}

/** How to get on: with the second factor that is there, or by setting up the first one. */
export function FactorNeeded<Session>({ calls, factors, proved, resetBy }: FactorNeededProps<Session>) {
  const isOn = calls.useIsOn()
  const passkeys = useQuery({ queryKey: PASSKEYS, queryFn: calls.list })
  const app = useQuery({ queryKey: SECOND_FACTOR, queryFn: factors.show })
  const prove = useMutation({ mutationFn: () => proveWithPasskey(calls), onSuccess: proved })
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
