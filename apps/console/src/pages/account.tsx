import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { OWN_ACCOUNT } from '../own-account.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { OwnSessions } from '../parts/own-sessions.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { FactorNeeded, Passkeys } from '../parts/passkeys.tsx'
import { SecondFactor } from '../parts/second-factor.tsx'
import { aboutQuery, keepProof, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

export function Account() {
  const { name, role, secondFactorNeeded, mode, version, timeZone } = useSession()
  const about = useQuery(aboutQuery)
  return (
    <Page title="Your account">
      {secondFactorNeeded && (
        <FactorNeeded account={OWN_ACCOUNT} proved={keepProof} resetBy="an administrator" />
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
      {about.data?.passwords !== false && <SecondFactor refreshSession={OWN_ACCOUNT.refreshSession} />}
      <Passkeys account={OWN_ACCOUNT} />
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
