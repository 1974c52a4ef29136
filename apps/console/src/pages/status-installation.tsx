import { Alert, Anchor, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../api.ts'
import { Instant, relativeTo } from '../parts/instant.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'

type StatusRecord = Schemas['Status']

/** The books, the database and its backups. */
export function Installation({ status: { books, database } }: { readonly status: StatusRecord }) {
  return (
    <Section title="Books and database">
      <Books books={books} />
      <Facts
        cols={4}
        facts={[
          {
            label: 'Role of the database',
            value:
              database.role === 'primary' ? (
                <Mark color="teal">Primary</Mark>
              ) : (
                <Mark color="orange">Standby: read only</Mark>
              ),
          },
          { label: 'PostgreSQL', value: database.version },
          { label: 'Write-ahead log archived', value: <Archive database={database} /> },
          {
            label: 'Last backup',
            value: 'Not stored by the service: see where your backups are written',
          },
        ]}
      />
    </Section>
  )
}

const STATES = {
  balanced: 'The books add up',
  differences: 'The books do not add up',
  unknown: 'Not checked yet',
} as const

/** Amber once the last proof is older than its schedule. */
function Books({ books }: Pick<StatusRecord, 'books'>) {
  const { checkedOn, everySeconds, isOverdue, state } = books
  const color = state === 'differences' ? 'red' : isOverdue || state === 'unknown' ? 'orange' : 'teal'
  return (
    <Alert color={color} mb="md" p="sm" role="status">
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {STATES[state]}
        </Text>
        <Text size="sm">
          {checkedOn ? `checked ${relativeTo(checkedOn)}` : 'no check yet'}
          {isOverdue && `, due every ${Math.round(everySeconds / 60)} minutes`}{' '}
          <Anchor component={Link} to="/ledger/reconciliation" inherit>
            Reconciliation
          </Anchor>
        </Text>
      </Group>
    </Alert>
  )
}

function Archive({ database }: Pick<StatusRecord, 'database'>) {
  const { archivedOn, archiveFailedOn, isArchiving } = database
  if (!isArchiving) return 'Not set up in PostgreSQL'
  return (
    <>
      {archivedOn ? <Instant at={archivedOn} long /> : 'Nothing yet'}
      {archiveFailedOn && (
        <Text size="xs" c="dimmed">
          failed last <Instant at={archiveFailedOn} long />
        </Text>
      )}
    </>
  )
}
