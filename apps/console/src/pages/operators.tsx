import { Group, Select, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Page } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { aboutQuery, queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { ACCESS_REQUESTS, AccessRequests, reportWaiting } from './access-requests.tsx'
import { Invitations, InviteOperator, PasswordLink } from './invitations.tsx'

type Operator = Schemas['Operator']

const ROLES = [
  { value: 'viewer', label: 'Viewer: sees everything, changes nothing' },
  { value: 'auditor', label: 'Auditor: also verifies the books and the audit' },
  { value: 'support', label: 'Support: cards, codes, webhook events, personal data' },
  { value: 'finance', label: 'Finance: moves, approves and reverses money' },
  { value: 'operations', label: 'Operations: tenants, credentials, webhooks' },
  { value: 'operator', label: 'Operator: support, finance and operations' },
  { value: 'admin', label: 'Administrator: everything, operators too' },
] as const

const changed = async () => {
  await queryClient.invalidateQueries({ queryKey: ['operators'] })
  await queryClient.invalidateQueries({ queryKey: ACCESS_REQUESTS })
}

const COLUMNS: readonly Column<Operator>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Role', cell: ({ role }) => sentenceCase(role) },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Last sign-in', cell: ({ lastSignInOn }) => <Instant at={lastSignInOn} /> },
  { title: 'Created', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: '', align: 'right', cell: (operator) => <Changes operator={operator} /> },
]

export function Operators() {
  const { can } = useSession()
  return (
    <Page
      title="Operators"
      lead="People who may sign in here."
      actions={can('administer') && <InviteOperator roles={ROLES} />}
    >
      <Stack>
        <List
          name="operators"
          caption="Operators"
          load={listAt('/operators')}
          columns={COLUMNS}
          rowKey={({ operatorId }) => operatorId}
          filters={[]}
          empty={
            <EmptyState title="No operators yet">
              Everybody signs in with a name of their own, so that the audit can say who did what.
            </EmptyState>
          }
        />
        {can('administer') && <AccessRequests />}
        {can('administer') && <Invitations />}
      </Stack>
    </Page>
  )
}

/** For a person who has a new account at the identity provider. */
function Unlink({ operatorId, name }: Pick<Operator, 'operatorId' | 'name'>) {
  const about = useQuery(aboutQuery)
  if (about.data?.singleSignOn === undefined) return null
  return (
    <ConfirmAction
      label="Unlink"
      confirm={`Unlink ${name}`}
      compact
      run={() =>
        responseOf(api.DELETE('/operators/{operatorId}/identity', { params: { path: { operatorId } } })).then(
          reportWaiting,
        )
      }
    >
      The account of {name} at {about.data.singleSignOn} no longer signs in here, and all their sessions end.
      The next account that has this name there is linked instead.
    </ConfirmAction>
  )
}

/** For a person who has lost a device. */
function RemovePasskeys({ operatorId, name }: Pick<Operator, 'operatorId' | 'name'>) {
  return (
    <ConfirmAction
      label="Passkeys"
      confirm={`Remove all passkeys of ${name}`}
      compact
      run={() =>
        responseOf(api.DELETE('/operators/{operatorId}/passkeys', { params: { path: { operatorId } } })).then(
          reportWaiting,
        )
      }
    >
      All passkeys of {name} stop working, for example after a device was lost, and all their sessions end.
      They sign in with a password or single sign-on, and can add passkeys again.
    </ConfirmAction>
  )
}

/** For a person who has lost the phone. */
function ResetSecondFactor({ operatorId, name }: Pick<Operator, 'operatorId' | 'name'>) {
  return (
    <ConfirmAction
      label="App"
      confirm={`Reset the authenticator app of ${name}`}
      compact
      run={() =>
        responseOf(
          api.DELETE('/operators/{operatorId}/second-factor', { params: { path: { operatorId } } }),
        ).then(reportWaiting)
      }
    >
      Codes of the authenticator app and recovery codes of {name} are asked for no more, for example after a
      phone was lost, and all their sessions end. Make sure that it is {name} who asks.
    </ConfirmAction>
  )
}

function Changes({ operator: { operatorId, name, role, status } }: { readonly operator: Operator }) {
  const params = { path: { operatorId } }
  const change = async (body: { role?: Operator['role']; disabled?: boolean }) => {
    await reportWaiting(await responseOf(api.PATCH('/operators/{operatorId}', { params, body })))
    await changed()
  }
  return (
    <Group gap={6} justify="flex-end">
      <FormDialog
        label={`Change ${name}`}
        send="Change"
        variant="default"
        compact="Change"
        initial={{ role }}
        rules={{}}
        fields={(form) => (
          <Select label="Role" data={ROLES} allowDeselect={false} {...form.getInputProps('role')} />
        )}
        submit={async (values) => {
          if (values.role !== role) await change({ role: values.role })
        }}
      />
      {status === 'active' && <PasswordLink operatorId={operatorId} name={name} />}
      <Unlink operatorId={operatorId} name={name} />
      <RemovePasskeys operatorId={operatorId} name={name} />
      <ResetSecondFactor operatorId={operatorId} name={name} />
      {status === 'active' ? (
        <ConfirmAction
          label="Disable"
          confirm={`Disable ${name}`}
          danger
          compact
          run={() => change({ disabled: true })}
        >
          {name} cannot sign in any more, and all their sessions end within a second.
        </ConfirmAction>
      ) : (
        <ConfirmAction
          label="Enable"
          confirm={`Enable ${name}`}
          compact
          run={() => change({ disabled: false })}
        >
          {name} can sign in again.
        </ConfirmAction>
      )}
    </Group>
  )
}
