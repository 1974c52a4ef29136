import { PasswordInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { responseOf } from '../../api.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Id } from '../../parts/object-link.tsx'
import { OwnSessions, type SessionCalls } from '../../parts/own-sessions.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { FactorNeeded, Passkeys } from '../../parts/passkeys.tsx'
import { type FactorCalls, SecondFactor } from '../../parts/second-factor.tsx'
import { sentenceCase } from '../../words.ts'
import { api } from '../api.ts'
import { PASSKEY_CALLS } from '../passkey-calls.ts'
import { keepProof, refreshMember, useMember } from '../session.ts'

const FACTOR_CALLS: FactorCalls = {
  show: () => responseOf(api.GET('/session/second-factor')),
  start: () => responseOf(api.POST('/session/second-factor')),
  confirm: (code) => responseOf(api.POST('/session/second-factor/confirm', { body: { code } })),
  renewCodes: () => responseOf(api.POST('/session/second-factor/recovery-codes')),
  remove: () => responseOf(api.DELETE('/session/second-factor')),
  refreshSession: refreshMember,
}

const SESSION_CALLS: SessionCalls = {
  list: () => responseOf(api.GET('/sessions')),
  end: (sessionId) => responseOf(api.DELETE('/sessions/{sessionId}', { params: { path: { sessionId } } })),
  endOthers: () => responseOf(api.DELETE('/sessions')),
}

export function Account() {
  const { name, role, secondFactorNeeded, tenantId, tenantName } = useMember()
  return (
    <Page title="Your account" actions={<ChangePassword />}>
      {secondFactorNeeded && (
        <FactorNeeded
          calls={PASSKEY_CALLS}
          factors={FACTOR_CALLS}
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
      <SecondFactor calls={FACTOR_CALLS} />
      <Passkeys calls={PASSKEY_CALLS} />
      <OwnSessions calls={SESSION_CALLS} />
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
