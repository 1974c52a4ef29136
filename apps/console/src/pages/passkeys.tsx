import { Stack, Text, TextInput } from '@mantine/core'
import { startRegistration } from '@simplewebauthn/browser'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { withAuthenticator } from '../passkey.ts'
import { aboutQuery, queryClient, refreshSession } from '../session.ts'

type Passkey = Schemas['Passkey']

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: () => responseOf(api.GET('/session/passkeys')),
})
const changed = () =>
  Promise.all([queryClient.invalidateQueries({ queryKey: passkeysQuery.queryKey }), refreshSession()])

const COLUMNS: readonly Column<Passkey>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Created', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Last used', cell: ({ lastUsedOn }) => <Instant at={lastUsedOn} /> },
  { title: '', align: 'right', cell: (passkey) => <Remove passkey={passkey} /> },
]

/** The passkeys of the operator who is signed in. */
export function Passkeys() {
  const about = useQuery(aboutQuery)
  const passkeys = useQuery(passkeysQuery)
  const isOn = about.data?.passkeys === true
  return (
    <Section title="Passkeys" aside={isOn && <AddPasskey />}>
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
                columns={COLUMNS}
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

function AddPasskey() {
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
        const { options } = await responseOf(api.POST('/session/passkeys/options'))
        const credential = await withAuthenticator(() => startRegistration({ optionsJSON: options as never }))
        await responseOf(api.POST('/session/passkeys', { body: { name, credential: credential as never } }))
        await changed()
      }}
    />
  )
}

function Remove({ passkey: { passkeyId, name } }: { readonly passkey: Passkey }) {
  return (
    <ConfirmAction
      label="Remove"
      confirm={`Remove ${name}`}
      danger
      compact
      run={async () => {
        const params = { path: { passkeyId } }
        await responseOf(api.DELETE('/session/passkeys/{passkeyId}', { params }))
        await changed()
      }}
    >
      You can no longer sign in with <b>{name}</b>. Delete it in your device or password manager too.
    </ConfirmAction>
  )
}
