import { Group, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { sentenceCase } from '../words.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { SecretOnce } from './secret-once.tsx'
import { StatusBadge } from './status-badge.tsx'

export interface MemberRow {
  readonly memberId: string
  readonly name: string
  readonly role: 'viewer' | 'operator' | 'admin'
  readonly status: 'active' | 'invited' | 'disabled'
  readonly createdOn: string
  readonly lastSignInOn?: string
  readonly linkExpiresOn?: string
  readonly hasSecondFactor: boolean
}

type Role = MemberRow['role']

/** What can be done to members, by console and portal in their own ways. */
export interface MemberActions {
  readonly invite: (member: { name: string; role: Role }) => Promise<{ link: string }>
  readonly change: (memberId: string, change: { role?: Role; disabled?: boolean }) => Promise<unknown>
  readonly renew: (memberId: string) => Promise<{ link: string }>
  readonly resetSecondFactor: (memberId: string) => Promise<unknown>
}

const ROLES = [
  { value: 'viewer', label: 'Viewer: sees everything' },
  { value: 'operator', label: 'Operator: also makes codes, refunds and holders' },
  { value: 'admin', label: 'Administrator: also keys, webhooks and members' },
]

interface MemberListProps {
  readonly members: readonly MemberRow[]
  /** Absent for who may only look. */
  readonly actions: MemberActions | undefined
  /** Who looks, and cannot change the own membership. */
  readonly self?: string
}

/** People of a tenant, with what can be done to them. */
export function MemberList({ members, actions, self }: MemberListProps) {
  const [link, setLink] = useState<string>()
  const columns: readonly Column<MemberRow>[] = [
    { title: 'Name', cell: ({ name }) => name },
    { title: 'Role', cell: ({ role }) => sentenceCase(role) },
    {
      title: 'Status',
      cell: ({ status, linkExpiresOn }) => (
        <>
          <StatusBadge state={status} />
          {linkExpiresOn !== undefined && (
            <Text size="xs" c="dimmed">
              link until <Instant at={linkExpiresOn} />
            </Text>
          )}
        </>
      ),
    },
    { title: 'Second factor', cell: ({ hasSecondFactor }) => (hasSecondFactor ? 'On' : '–') },
    { title: 'Last sign-in', cell: ({ lastSignInOn }) => <Instant at={lastSignInOn} /> },
    {
      title: 'What to do',
      cell: (member) =>
        actions && member.memberId !== self ? (
          <Actions member={member} actions={actions} onLink={setLink} />
        ) : (
          '–'
        ),
    },
  ]
  return (
    <>
      <DataTable caption="Members" columns={columns} rows={members} rowKey={({ memberId }) => memberId} />
      <LinkOnce link={link} onDone={() => setLink(undefined)} />
    </>
  )
}

function LinkOnce({ link, onDone }: { readonly link: string | undefined; readonly onDone: () => void }) {
  return (
    <SecretOnce
      what="link"
      secret={link}
      lost="Send it to the person: it works once, for three days, and lets them choose a password. If it is lost, make another one."
      onDone={onDone}
    />
  )
}

interface ActionsProps {
  readonly member: MemberRow
  readonly actions: MemberActions
  readonly onLink: (link: string) => void
}

function Actions({
  member: { hasSecondFactor, memberId, name, role, status },
  actions,
  onLink,
}: ActionsProps) {
  const disabled = status === 'disabled'
  return (
    <Group gap={4}>
      {!disabled && (
        <FormDialog
          label={`Change role of ${name}`}
          compact="Role"
          send="Change"
          variant="default"
          initial={{ role: role as string }}
          fields={(form) => (
            <Select label="Role" data={ROLES} allowDeselect={false} {...form.getInputProps('role')} />
          )}
          submit={(values) => actions.change(memberId, { role: values.role as Role })}
        />
      )}
      {!disabled && (
        <ConfirmAction
          label="New link"
          confirm="Make a link"
          compact
          run={async () => onLink((await actions.renew(memberId)).link)}
        >
          With it <b>{name}</b> chooses another password; then all sessions end. The link before stops
          working.
        </ConfirmAction>
      )}
      {hasSecondFactor && (
        <ConfirmAction
          label="Reset second factor"
          confirm="Reset"
          danger
          compact
          run={() => actions.resetSecondFactor(memberId)}
        >
          <b>{name}</b> is signed out everywhere, and signs in with the password alone until another app is
          set up. Make sure that it is really {name} who asks.
        </ConfirmAction>
      )}
      <Enabling
        name={name}
        disabled={disabled}
        change={() => actions.change(memberId, { disabled: !disabled })}
      />
    </Group>
  )
}

interface EnablingProps {
  readonly name: string
  readonly disabled: boolean
  readonly change: () => Promise<unknown>
}

function Enabling({ name, disabled, change }: EnablingProps) {
  return (
    <ConfirmAction
      label={disabled ? 'Enable' : 'Disable'}
      confirm={disabled ? 'Enable' : 'Disable'}
      danger={!disabled}
      compact
      run={change}
    >
      {disabled ? (
        <>
          <b>{name}</b> can sign in again.
        </>
      ) : (
        <>
          <b>{name}</b> is signed out everywhere and cannot sign in.
        </>
      )}
    </ConfirmAction>
  )
}

/** A button that invites a person and shows the link, this one time. */
export function InviteMember({ invite }: Pick<MemberActions, 'invite'>) {
  const [link, setLink] = useState<string>()
  return (
    <>
      <FormDialog
        label="Invite member"
        send="Invite"
        initial={{ name: '', role: 'viewer' }}
        rules={{ name: needed }}
        fields={(form) => (
          <>
            <TextInput
              label="Name"
              description="With which the person signs in: small letters, such as an e-mail address"
              placeholder="asha@shop.example"
              autoCapitalize="none"
              data-autofocus
              {...form.getInputProps('name')}
            />
            <Select label="Role" data={ROLES} allowDeselect={false} {...form.getInputProps('role')} />
          </>
        )}
        submit={async ({ name, role }) => {
          const invited = await invite({ name: name.trim(), role: role as Role })
          setLink(invited.link)
        }}
      />
      <LinkOnce link={link} onDone={() => setLink(undefined)} />
    </>
  )
}
