import { PasswordInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { responseOf } from '../../api.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Id } from '../../parts/object-link.tsx'
import { OwnSessions } from '../../parts/own-sessions.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { FactorNeeded, Passkeys } from '../../parts/passkeys.tsx'
import { SecondFactor } from '../../parts/second-factor.tsx'
import { sentenceCase } from '../../words.ts'
import { api } from '../api.ts'
import { OWN_ACCOUNT } from '../own-account.ts'
import { keepProof, useMember } from '../session.ts'

export function Account() {
  const { name, role, secondFactorNeeded, tenantId, tenantName } = useMember()
  return (
    <Page title="Your account" actions={<ChangePassword />}>
      {secondFactorNeeded && (
        <FactorNeeded
          account={OWN_ACCOUNT}
          proved={keepProof}
          resetBy="another administrator of your company, or the operator of the service,"
        />
      )}
      <Section title="Who you are here">
        <Facts
          facts={[
            { label: 'Name', value: name },
            { label: 'Role', value: sentenceCase(role) },
            { label: 'For', value: tenantName },
            { label: 'Id', value: <Id id={tenantId} what="id" /> },
          ]}
        />
      </Section>
      <SecondFactor refreshSession={OWN_ACCOUNT.refreshSession} />
      <Passkeys account={OWN_ACCOUNT} />
      <OwnSessions />
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
