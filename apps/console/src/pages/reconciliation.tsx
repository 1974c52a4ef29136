import { Alert, Button, Code, List, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'

const KEY = ['ledger', 'reconciliation']

const VERDICTS: Readonly<Record<Schemas['Reconciliation']['state'], readonly [string, string, string]>> = {
  balanced: ['teal', 'The books add up', 'Every check passed on one snapshot of all tenants.'],
  differences: [
    'red',
    'The books do not add up',
    'Look at the differences below, and stop what causes them first.',
  ],
  failed: ['orange', 'The last run broke off', 'Run it again; if that fails too, look at the service’s log.'],
  unknown: ['gray', 'Not checked yet', 'Run it'],
}

export function Reconciliation() {
  const { can } = useSession()
  const query = useQuery({
    queryKey: KEY,
    queryFn: () => responseOf(api.GET('/ledger/reconciliation')),
    refetchInterval: ({ state }) => (state.data?.running ? 1_000 : 30_000),
  })
  const run = useMutation({
    mutationFn: () => responseOf(api.POST('/ledger/reconciliation')),
    onSuccess: (result) => queryClient.setQueryData(KEY, result),
  })
  return (
    <Page
      title="Reconciliation"
      lead="Proves that every balance equals its transfers, and that payments, cards and coins fit them."
      actions={
        can('verify') && (
          <Button onClick={() => run.mutate()} loading={run.isPending || query.data?.running === true}>
            Reconcile now
          </Button>
        )
      }
    >
      {run.error && <FailureAlert failed={run.error} />}
      <Loaded query={query}>{(result) => <Result result={result} />}</Loaded>
    </Page>
  )
}

function Result({ result }: { readonly result: Schemas['Reconciliation'] }) {
  const [color, title, says] = VERDICTS[result.state]
  return (
    <Stack aria-live="polite">
      <Alert color={color} title={title}>
        {result.problem ?? says}
      </Alert>
      {result.state !== 'unknown' && (
        <Section title="The latest run">
          <Facts
            facts={[
              { label: 'When', value: <Instant at={result.startedOn} long /> },
              {
                label: 'Took',
                value: result.tookMs === undefined ? undefined : `${count(result.tookMs)} ms`,
              },
              { label: 'Begun by', value: result.startedBy },
              { label: 'Accounts', value: count(result.accounts) },
              { label: 'Transfers', value: count(result.transfers) },
            ]}
          />
        </Section>
      )}
      {result.checks.length > 0 && (
        <Section title="Checks">
          <Table.ScrollContainer minWidth={320} scrollAreaProps={{ tabIndex: -1 }}>
            <Table aria-label="Checks of the books">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Check</Table.Th>
                  <Table.Th>Result</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {result.checks.map((check) => (
                  <Check key={check.check} {...check} />
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Section>
      )}
    </Stack>
  )
}

function Check({ check, ok, differences }: Schemas['ReconciliationCheck']) {
  return (
    <Table.Tr>
      <Table.Td>
        {check}
        {differences.length > 0 && (
          <List size="sm" mt={4}>
            {differences.map(({ subject, detail }) => (
              <List.Item key={subject}>
                <Code>{subject}</Code> {detail}
              </List.Item>
            ))}
          </List>
        )}
        {differences.length === 100 && (
          <Text size="sm" c="dimmed">
            The first 100.
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Mark color={ok ? 'teal' : 'red'}>{ok ? 'Passed' : `${count(differences.length)} differences`}</Mark>
      </Table.Td>
    </Table.Tr>
  )
}
