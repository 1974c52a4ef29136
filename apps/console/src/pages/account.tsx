import { Alert, Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { type FactorCalls, SecondFactor } from '../parts/second-factor.tsx'
import { aboutQuery, sessionQuery, useSession } from '../session.ts'
import { wordy } from '../words.ts'
import { OwnSessions } from './own-sessions.tsx'
import { Passkeys } from './passkeys.tsx'

const FACTOR_CALLS: FactorCalls = {
  show: () => responseOf(api.GET('/session/second-factor')),
  start: () => responseOf(api.POST('/session/second-factor')),
  confirm: (code) => responseOf(api.POST('/session/second-factor/confirm', { body: { code } })),
  renewCodes: () => responseOf(api.POST('/session/second-factor/recovery-codes')),
  remove: () => responseOf(api.DELETE('/session/second-factor')),
  sessionKey: sessionQuery.queryKey,
}

export function Account() {
  const { name, role, secondFactorNeeded, mode, version, timeZone } = useSession()
  const about = useQuery(aboutQuery)
  return (
    <Page title="Your account">
      {secondFactorNeeded && (
        <Alert color="yellow" title="Set up a second factor">
          Your role may move money, so a password is not enough: add an authenticator app or a passkey. Then
          sign in again.
        </Alert>
      )}
      <Section title="About">
        <Facts
          facts={[
            { label: 'Name', value: name },
            { label: 'Role', value: wordy(role) },
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
      <OwnSessions />
    </Page>
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
