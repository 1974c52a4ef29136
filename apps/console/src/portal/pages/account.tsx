import { PasswordInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { responseOf } from '../../api.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Id } from '../../parts/thing-link.tsx'
import { wordy } from '../../words.ts'
import { api } from '../api.ts'
import { useMember } from '../session.ts'

export function Account() {
  const { name, role, tenantId, tenantName } = useMember()
  return (
    <Page title="Your account" actions={<ChangePassword />}>
      <Section title="Who you are here">
        <Facts
          facts={[
            { label: 'Name', value: name },
            { label: 'Role', value: wordy(role) },
            { label: 'For', value: tenantName },
            { label: 'Id', value: <Id id={tenantId} what="id" /> },
          ]}
        />
      </Section>
    </Page>
  )
}

function ChangePassword() {
  return (
    <FormDialog
      label="Change password"
      send="Change"
      variant="default"
      initial={{ password: '', newPassword: '' }}
      rules={{
        newPassword: (value: string) => (value.length >= 12 ? null : 'At least 12 characters'),
      }}
      fields={(form) => (
        <>
          <PasswordInput
            label="Password until now"
            autoComplete="current-password"
            {...form.getInputProps('password')}
          />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            {...form.getInputProps('newPassword')}
          />
        </>
      )}
      submit={async (body) => {
        await responseOf(api.POST('/session/password', { body }))
        notifications.show({ color: 'teal', message: 'Changed. Your other sessions have ended.' })
      }}
    />
  )
}
