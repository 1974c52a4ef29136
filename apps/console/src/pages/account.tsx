import { Alert, Button, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { OwnSessions, type SessionCalls } from '../parts/own-sessions.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { type FactorCalls, SECOND_FACTOR, SecondFactor } from '../parts/second-factor.tsx'
import { proveWithPasskey } from '../passkey.ts'
import { aboutQuery, queryClient, refreshSession, sessionQuery, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { Passkeys, passkeysQuery } from './passkeys.tsx'

const FACTOR_CALLS: FactorCalls = {
  show: () => responseOf(api.GET('/session/second-factor')),
  start: () => responseOf(api.POST('/session/second-factor')),
  confirm: (code) => responseOf(api.POST('/session/second-factor/confirm', { body: { code } })),
  renewCodes: () => responseOf(api.POST('/session/second-factor/recovery-codes')),
  remove: () => responseOf(api.DELETE('/session/second-factor')),
  refreshSession,
}

const SESSION_CALLS: SessionCalls = {
  list: () => responseOf(api.GET('/sessions')),
  end: (sessionId) => responseOf(api.DELETE('/sessions/{sessionId}', { params: { path: { sessionId } } })),
  endOthers: () => responseOf(api.DELETE('/sessions')),
}

export function Account() {
  const { name, role, secondFactorNeeded, mode, version, timeZone } = useSession()
  const about = useQuery(aboutQuery)
  return (
    <Page title="Your account">
      {secondFactorNeeded && <FactorNeeded />}
      <Section title="About">
        <Facts
          facts={[
            { label: 'Name', value: name },
            { label: 'Role', value: sentenceCase(role) },
            { label: 'Service', value: `svc ${version}, ${mode} mode` },
            { label: 'Dates are shown in', value: timeZone },
          ]}
        />
      </Section>
      {about.data?.passwords !== false && (
        <Section title="Change your password">
          <ChangePassword />
        </Section>
      )}
      {about.data?.passwords !== false && <SecondFactor calls={FACTOR_CALLS} />}
      <Passkeys />
      <OwnSessions calls={SESSION_CALLS} />
    </Page>
  )
}

/** How to get on: with the second factor that is there, or by setting up the first one. */
function FactorNeeded() {
  const { name } = useSession()
  const about = useQuery(aboutQuery)
  const passkeys = useQuery(passkeysQuery)
  const app = useQuery({ queryKey: SECOND_FACTOR, queryFn: FACTOR_CALLS.show })
  const prove = useMutation({
    mutationFn: () => proveWithPasskey(name),
    onSuccess: (session) => queryClient.setQueryData(sessionQuery.queryKey, session),
  })
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
          If you have lost your second factor, an administrator can remove it.
        </Text>
        {prove.error && <FailureAlert failed={prove.error} />}
        {hasPasskey && about.data?.passkeys && (
          <Button loading={prove.isPending} onClick={() => prove.mutate()}>
            Use your passkey
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

function ChangePassword() {
  const form = useForm({
    initialValues: { password: '', newPassword: '', again: '' },
    validate: {
      password: needed,
      newPassword: (value) => (value.length >= 12 ? null : 'At least 12 characters'),
      again: (value, { newPassword }) => (value === newPassword ? null : 'Not the same'),
    },
  })
  const change = useMutation({
    mutationFn: (body: { password: string; newPassword: string }) =>
      responseOf(api.POST('/session/password', { body })),
    onSuccess: () => {
      form.reset()
      notifications.show({ color: 'teal', message: 'Changed. Your other sessions have ended.' })
    },
  })
  return (
    <form
      onSubmit={form.onSubmit(({ password, newPassword }) => change.mutate({ password, newPassword }))}
      noValidate
    >
      <Stack maw={420} gap="sm">
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...form.getInputProps('password')}
        />
        <PasswordInput
          label="New password"
          description="At least 12 characters; a few words are easier to keep than signs"
          autoComplete="new-password"
          {...form.getInputProps('newPassword')}
        />
        <PasswordInput
          label="Repeat the new password"
          autoComplete="new-password"
          {...form.getInputProps('again')}
        />
        {change.error && <FailureAlert failed={change.error} />}
        <Button type="submit" loading={change.isPending}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}
