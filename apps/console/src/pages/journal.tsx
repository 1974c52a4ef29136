import { Paper, SimpleGrid, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { pathOf } from '../objects.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { Day, Instant } from '../parts/instant.tsx'
import { Amount } from '../parts/ledger-words.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useName } from '../parts/names.ts'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { Id, IdLink, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

type Detail = Schemas['JournalDetail']
type Leg = Schemas['Transfer']

export function Journal() {
  const { journalId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['journals', journalId],
    queryFn: () => responseOf(api.GET('/ledger/journals/{journalId}', { params: { path: { journalId } } })),
  })
  const journal = query.data
  return (
    <Page
      title={journal ? `Journal: ${sentenceCase(journal.kind)}` : 'Journal'}
      badge={journal?.reversedBy && <Mark color="orange">Reversed</Mark>}
      trail={[{ to: '/ledger', label: 'Ledger accounts' }]}
      actions={journal && <Reverse journal={journal} />}
    >
      <Loaded query={query}>
        {(loaded) => (
          <>
            <About journal={loaded} />
            <Section title="Accounts">
              <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
                {sidesOf(loaded.legs).map((sides) => (
                  <TAccount key={sides.accountId} sides={sides} />
                ))}
              </SimpleGrid>
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Takes a posting of an operator back; what made another journal also corrects it. */
function Reverse({ journal }: { readonly journal: Detail }) {
  const { can } = useSession()
  const navigate = useNavigate()
  if (!journal.isReversible || !can('finance')) return undefined
  return (
    <ConfirmAction
      label="Reverse"
      confirm="Reverse it"
      danger
      withReason
      run={async (reason) => {
        const path = { params: { path: { journalId: journal.journalId } } }
        const reversal = await responseOf(
          api.POST('/ledger/journals/{journalId}/reverse', { ...path, body: { reason } }),
        )
        await queryClient.invalidateQueries({ queryKey: ['journals'] })
        if ('approvalId' in reversal) notifyWaiting(reversal.amount)
        else await navigate({ to: pathOf('journal', reversal.journalId) })
      }}
    >
      A mirrored journal takes it back, once. Afterwards its bank reference, or another opening balance of the
      account, may be entered again.
    </ConfirmAction>
  )
}

function About({ journal }: { readonly journal: Detail }) {
  const { createdOn, effectiveDate, journalId, legs, reason, reference, reversedBy, reverses, tenantId } =
    journal
  const objectIds = [...new Set(legs.map(({ objectId }) => objectId))]
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'Reference', value: reference && <Id id={reference} what="reference" /> },
          { label: 'Business day', value: <Day day={effectiveDate} /> },
          { label: 'Entered', value: <Instant at={createdOn} long /> },
          { label: 'Reason', value: reason },
          {
            label: 'For',
            value: objectIds.map((id) => (
              <div key={id}>
                <IdLink id={id} />
              </div>
            )),
          },
          { label: 'Tenant', value: <IdLink id={tenantId} /> },
          { label: 'Reverses', value: reverses && <ObjectLink kind="journal" id={reverses} /> },
          { label: 'Reversed by', value: reversedBy && <ObjectLink kind="journal" id={reversedBy} /> },
          { label: 'Journal id', value: <Id id={journalId} what="journal id" /> },
        ]}
      />
    </Section>
  )
}

interface Sides {
  readonly accountId: string
  readonly debits: Leg[]
  readonly credits: Leg[]
}

/** The legs as each account sees them, in the order of the legs. */
function sidesOf(legs: readonly Leg[]): Sides[] {
  const byAccount = new Map<string, Sides>()
  const of = (accountId: string): Sides => {
    const known = byAccount.get(accountId) ?? { accountId, debits: [], credits: [] }
    byAccount.set(accountId, known)
    return known
  }
  for (const leg of legs) {
    of(leg.debitAccountId).debits.push(leg)
    of(leg.creditAccountId).credits.push(leg)
  }
  return [...byAccount.values()]
}

/** One account of the journal: what it is debited on the left, what it is credited on the right. */
function TAccount({ sides: { accountId, credits, debits } }: { readonly sides: Sides }) {
  const { name } = useName(accountId)
  const rows = Array.from({ length: Math.max(debits.length, credits.length) }, (_, i) => ({
    key: debits[i]?.transferId ?? credits[i]?.transferId,
    sides: [debits[i], credits[i]] as const,
  }))
  return (
    <Paper withBorder p="sm">
      <Text ta="center" fw={600} size="sm" style={{ overflowWrap: 'anywhere' }}>
        <ObjectLink kind="ledgerAccount" id={accountId} />
      </Text>
      <Table withColumnBorders aria-label={name ?? accountId} verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">Debit</Table.Th>
            <Table.Th ta="right">Credit</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, sides }) => (
            <Table.Tr key={key}>
              {sides.map((leg, side) => (
                <Table.Td key={side === 0 ? 'debit' : 'credit'} ta="right" w="50%">
                  {leg && <Amount amount={leg.amount} unit={leg.unit} />}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}
