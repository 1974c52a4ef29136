import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { OwnSessions, type SessionCalls } from '../parts/own-sessions.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { FactorNeeded, Passkeys } from '../parts/passkeys.tsx'
import { type FactorCalls, SecondFactor } from '../parts/second-factor.tsx'
import { PASSKEY_CALLS } from '../passkey-calls.ts'
import { aboutQuery, keepProof, refreshSession, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

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
      {secondFactorNeeded && (
        <FactorNeeded
          calls={PASSKEY_CALLS}
          factors={FACTOR_CALLS}
          proved={keepProof}
          resetBy="an administrator"
        />
      )}
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
      <Passkeys calls={PASSKEY_CALLS} />
      <OwnSessions calls={SESSION_CALLS} />
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
