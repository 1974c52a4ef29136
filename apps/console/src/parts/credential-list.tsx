import { Group, NumberInput, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Schemas } from '../api.ts'
import { type FormKey } from '../form-key.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { Limit, LimitInputs, type Limits, LimitsCell, limitsOf, NO_LIMITS } from './credential-limits.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Id } from './object-link.tsx'
import { Section } from './page.tsx'
import { SecretOnce } from './secret-once.tsx'
import { StatusBadge } from './status-badge.tsx'

type Credential = Schemas['Credential']
type Issued = Schemas['IssuedCredential']

/** What may be done. */
/** They show a secret; operators of live mode hand credentials over instead (decision O8). */
interface IssuingActions {
  readonly issue: (body: Limits & { name: string }, key: FormKey) => Promise<Issued>
  readonly roll: (credentialId: string, body: { hours: number }, key: FormKey) => Promise<Issued>
}

export interface CredentialActions {
  readonly issuing: IssuingActions | undefined
  readonly limit: (credentialId: string, body: Limits) => Promise<unknown>
  readonly revoke: (credentialId: string) => Promise<unknown>
}

interface CredentialListProps {
  /** "API key" or "OAuth client". */
  readonly what: string
  readonly credentials: readonly Credential[]
  /** To which one may be limited. */
  readonly scopes: readonly string[]
  readonly actions: CredentialActions | undefined
  readonly empty: ReactNode
}

const OVERLAP_HOURS = 24

const isOver = ({ expiresOn, revokedOn }: Credential) =>
  revokedOn !== undefined || (expiresOn !== undefined && Date.parse(expiresOn) <= Date.now())

function State({ credential }: { readonly credential: Credential }) {
  const { expiresOn, revokedOn } = credential
  if (revokedOn !== undefined) return <StatusBadge state="REVOKED" />
  if (expiresOn === undefined) return <StatusBadge state="ACTIVE" />
  return (
    <>
      <StatusBadge state={isOver(credential) ? 'REPLACED' : 'ACTIVE'} />{' '}
      <Text span size="sm">
        {isOver(credential) ? 'since' : 'until'} <Instant at={expiresOn} />
      </Text>
    </>
  )
}

const columnsOf = (what: string): readonly Column<Credential>[] => [
  { title: 'Name', cell: ({ name }) => name },
  {
    title: 'Id',
    cell: ({ credentialId, prefix }) => (
      <>
        <Id id={credentialId} what={`${what} id`} />
        {prefix && (
          <Text size="xs" c="dimmed" ff="monospace">
            {prefix}…
          </Text>
        )}
      </>
    ),
  },
  { title: 'Issued', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Last used', cell: ({ lastUsedOn }) => (lastUsedOn ? <Instant at={lastUsedOn} /> : 'Never') },
  { title: 'Limits', cell: (credential) => <LimitsCell credential={credential} /> },
  { title: 'State', cell: (credential) => <State credential={credential} /> },
]

/** API keys of a merchant or OAuth clients of a partner, and what may be done with them. */
export function CredentialList({ what, credentials, scopes, actions, empty }: CredentialListProps) {
  const [issued, setIssued] = useState<Issued>()
  const columns = [...columnsOf(what)]
  if (actions)
    columns.push({
      title: 'What to do',
      align: 'right',
      cell: (credential) =>
        isOver(credential) ? (
          '–'
        ) : (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <Limit
              credential={credential}
              scopes={scopes}
              limit={(body) => actions.limit(credential.credentialId, body)}
            />
            {credential.expiresOn === undefined && actions.issuing && (
              <Roll what={what} credential={credential} actions={actions.issuing} onIssued={setIssued} />
            )}
            <Revoke credential={credential} actions={actions} />
          </Group>
        ),
    })
  return (
    <Section
      title={`${what}s`}
      aside={
        actions?.issuing && (
          <Issue what={what} scopes={scopes} actions={actions.issuing} onIssued={setIssued} />
        )
      }
    >
      {credentials.length === 0 ? (
        empty
      ) : (
        <DataTable
          caption={`${what}s`}
          columns={columns}
          rows={credentials}
          rowKey={({ credentialId }) => credentialId}
        />
      )}
      <SecretOnce
        what={what}
        secret={issued?.secret}
        beside={issued ? [{ label: 'Id', value: issued.credentialId }] : []}
        onDone={() => setIssued(undefined)}
      />
    </Section>
  )
}

interface NewProps {
  readonly what: string
  readonly actions: IssuingActions
  readonly onIssued: (issued: Issued) => void
}

function Issue({ what, scopes, actions, onIssued }: NewProps & { readonly scopes: readonly string[] }) {
  return (
    <FormDialog
      label={`Issue ${what}`}
      send="Issue"
      variant="default"
      initial={{ name: '', ...NO_LIMITS }}
      rules={{ name: needed }}
      fields={(form) => (
        <>
          <TextInput
            label="Name"
            description="The program that will use it"
            data-autofocus
            {...form.getInputProps('name')}
          />
          <LimitInputs form={form} scopes={scopes} />
        </>
      )}
      submit={async ({ name, ...limits }, key) =>
        onIssued(await actions.issue({ name, ...limitsOf(limits) }, key))
      }
    />
  )
}

function Roll({ what, credential, actions, onIssued }: NewProps & { readonly credential: Credential }) {
  const { credentialId, name } = credential
  return (
    <FormDialog
      label={`Replace ${name}`}
      send="Replace"
      compact="Replace"
      variant="default"
      initial={{ hours: OVERLAP_HOURS }}
      fields={(form) => (
        <>
          <Text size="sm">
            Another {what} of the same name is issued. The present one goes on working for some hours, so that
            programs can change over.
          </Text>
          <NumberInput
            label="Hours until the present one ends"
            min={1}
            max={720}
            allowDecimal={false}
            data-autofocus
            {...form.getInputProps('hours')}
          />
        </>
      )}
      submit={async (body, key) => onIssued(await actions.roll(credentialId, body, key))}
    />
  )
}

function Revoke({
  credential: { credentialId, name },
  actions,
}: {
  readonly credential: Credential
  readonly actions: CredentialActions
}) {
  return (
    <ConfirmAction
      label="Revoke"
      confirm="Revoke for good"
      danger
      compact
      typed={name}
      run={() => actions.revoke(credentialId)}
    >
      Programs that use <b>{name}</b> are refused within a second. This cannot be undone.
    </ConfirmAction>
  )
}
