import { Alert, Badge, Button, Group, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { COMPANY, type Filter, PARTNER } from '../parts/filters.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { List } from '../parts/list-page.tsx'
import { count } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { CoinLiability } from './coin-liability.tsx'

const CreateCoinConfig = lazyPart(
  async () => (await import('./coin-config-forms.tsx')).CreateCoinConfig,
  null,
)

const COLUMNS: readonly Column<Schemas['CoinConfigRow']>[] = [
  {
    title: 'Configuration',
    cell: ({ coinConfigId, title }) => (
      <ObjectLink kind="coinConfig" id={coinConfigId}>
        {title}
      </ObjectLink>
    ),
  },
  { title: 'Event', cell: ({ event }) => event },
  { title: 'Coins', align: 'right', cell: ({ amount }) => count(amount) },
  {
    title: 'For',
    cell: ({ companyId, partnerId }) =>
      companyId ? (
        <ObjectLink kind="company" id={companyId} />
      ) : (
        <>
          all of <ObjectLink kind="partner" id={partnerId} />
        </>
      ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Revision', align: 'right', cell: ({ revision }) => revision },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const choices = (...values: string[]) => values.map((value) => ({ value, label: sentenceCase(value) }))

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id' },
  PARTNER,
  COMPANY,
  { name: 'event', label: 'Event', kind: 'text', placeholder: 'With partner or company' },
  { name: 'status', label: 'Status', kind: 'select', options: choices('ACTIVE', 'INACTIVE') },
  { name: 'configuration', label: 'Kind', kind: 'select', options: choices('DEFAULT', 'CUSTOM') },
]

export const COIN_CONFIGS: ListKind<Schemas['CoinConfigRow']> = {
  name: 'coin-configs',
  caption: 'Coin configurations',
  columns: COLUMNS,
  rowKey: ({ coinConfigId }) => coinConfigId,
  filters: FILTERS,
  sort: '-created',
}

export function Coins() {
  const { can } = useSession()
  return (
    <Page
      title="Coins"
      lead="What events award. A company’s own configuration outranks the partner’s default."
      actions={can('operations') && <CreateCoinConfig />}
    >
      <CoinLiability />
      <DryRun />
      <List
        {...COIN_CONFIGS}
        load={listAt('/coin-configs')}
        empty={
          <EmptyState title="No coin configurations yet">
            A rewards partner says what an event is worth. Its configurations, and every revision of them, are
            shown here.
          </EmptyState>
        }
      />
    </Page>
  )
}

/** Asks what an event would award, and why; nothing changes. */
function DryRun() {
  const form = useForm({
    initialValues: { userId: '', event: '' },
    validate: { userId: needed, event: needed },
  })
  const run = useMutation({
    mutationFn: (body: { userId: string; event: string }) => responseOf(api.POST('/coin-dry-runs', { body })),
  })
  return (
    <Section title="Dry run: what would an event award?">
      <form onSubmit={form.onSubmit((values) => run.mutate(values))} noValidate>
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
          <TextInput label="User id" placeholder="usr_…" {...form.getInputProps('userId')} />
          <TextInput label="Event" placeholder="referral" {...form.getInputProps('event')} />
          <Group align="end">
            <Button type="submit" variant="default" loading={run.isPending}>
              Try it
            </Button>
          </Group>
        </SimpleGrid>
      </form>
      <div aria-live="polite">
        {run.error && <FailureAlert failed={run.error} />}
        {run.data && <Verdict outcome={run.data} />}
      </div>
    </Section>
  )
}

const OUTCOMES: Readonly<
  Record<Schemas['CoinAllocation']['outcome'], readonly [color: string, title: string]>
> = {
  ALLOCATED: ['teal', 'Awarded'],
  WOULD_ALLOCATE: ['teal', 'It would award'],
  WOULD_REPEAT: ['gray', 'It would return what was awarded before'],
  WOULD_REFUSE: ['orange', 'It would be refused'],
}

const VERDICTS = {
  APPLIES: 'applies',
  OUTRANKED: 'outranked by the company’s own',
  NOT_YET_VALID: 'not valid yet',
  NO_LONGER_VALID: 'no longer valid',
} as const

function Verdict({ outcome }: { readonly outcome: Schemas['CoinAllocation'] }) {
  const [color, title] = OUTCOMES[outcome.outcome]
  const refused = outcome.outcome === 'WOULD_REFUSE'
  return (
    <Alert color={color} title={title} mt="sm">
      <Stack gap="xs">
        <Text size="sm">
          {refused
            ? (outcome.reasonDescription ?? outcome.reason)
            : `${count(outcome.amount)} coins${outcome.pending ? ', pending at first' : ''}; the balance would be ${count(outcome.balance)}.`}
        </Text>
        {(outcome.considered ?? []).length > 0 && (
          <Table withRowBorders={false} w="auto" aria-label="Configurations that were considered">
            <Table.Tbody>
              {outcome.considered!.map(({ coinConfigId, configuration, amount, verdict }) => (
                <Table.Tr key={coinConfigId}>
                  <Table.Td>
                    <ObjectLink kind="coinConfig" id={coinConfigId} />
                  </Table.Td>
                  <Table.Td>{sentenceCase(configuration)}</Table.Td>
                  <Table.Td>{count(amount)} coins</Table.Td>
                  <Table.Td>
                    <Badge
                      variant="outline"
                      color={verdict === 'APPLIES' ? 'teal' : 'gray'}
                      tt="none"
                      className="mark"
                    >
                      {VERDICTS[verdict]}
                    </Badge>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Stack>
    </Alert>
  )
}
