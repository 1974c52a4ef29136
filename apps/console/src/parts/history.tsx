import { Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { sentenceCase } from '../words.ts'
import { Loaded } from './loaded.tsx'
import { count, Money } from './money.tsx'
import { IdLink, ObjectLink, WithNames } from './object-link.tsx'
import { Section } from './page.tsx'
import { Timeline } from './timeline.tsx'

type Entry = Schemas['HistoryEntry']

const COLORS: Readonly<Record<Entry['source'], string>> = {
  record: 'brand',
  notice: 'blue',
  payment: 'teal',
  refund: 'grape',
  dispute: 'orange',
  payout: 'cyan',
  journal: 'indigo',
  settlement: 'teal',
  event: 'gray',
  delivery: 'gray',
  audit: 'yellow',
}

const TITLES: Readonly<Record<Entry['source'], string>> = {
  record: 'Record',
  notice: 'Bank notice',
  payment: 'Payment',
  refund: 'Refund',
  dispute: 'Dispute',
  payout: 'Payout',
  journal: 'Journal',
  settlement: 'Settlement',
  event: 'Event',
  delivery: 'Webhook',
  audit: 'Audit',
}

/** Everything that happened to an object, newest first. */
export function History({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <Timeline
      entries={entries.toReversed().map((entry) => ({
        at: entry.at,
        title: `${TITLES[entry.source]}: ${entry.source === 'event' ? entry.what : sentenceCase(entry.what.replace('.', ' '))}`,
        color: entry.failed ? 'red' : COLORS[entry.source],
        detail: <Detail entry={entry} />,
      }))}
    />
  )
}

/** The same of a QR code, a card or a card account, loaded by its id. */
export function ObjectHistory({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['history', id],
    queryFn: () => responseOf(api.GET('/history/{objectId}', { params: { path: { objectId: id } } })),
    refetchInterval: 10_000,
  })
  return (
    <Section title="Everything recorded">
      <Loaded query={query}>{({ history }) => <History entries={history} />}</Loaded>
    </Section>
  )
}

function Detail({ entry }: { readonly entry: Entry }) {
  const { actor, amount, detail, endpointId, id, lines, source } = entry
  return (
    <>
      {actor && <div>by {actor}</div>}
      {amount !== undefined && <Money amount={amount} />}
      {detail && (
        <div>
          <WithNames text={detail} />
        </div>
      )}
      {lines && <Legs lines={lines} />}
      <Text size="xs" c="dimmed" component="div">
        {endpointId && (
          <>
            <ObjectLink kind="webhookEndpoint" id={endpointId} />{' '}
          </>
        )}
        {id && source === 'audit' ? `audit entry ${id}` : id && <IdLink id={id} />}
      </Text>
    </>
  )
}

/** A journal as T-accounts: what each account is debited and credited. */
function Legs({ lines }: { readonly lines: NonNullable<Entry['lines']> }) {
  return (
    <Table withTableBorder my={4} maw={520} verticalSpacing={5} aria-label="Journal">
      <Table.Thead>
        <Table.Tr>
          <Table.Th fz="xs">Account</Table.Th>
          <Table.Th fz="xs" ta="right">
            Debit
          </Table.Th>
          <Table.Th fz="xs" ta="right">
            Credit
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {lines.map(({ accountId, debit, credit, unit }) => (
          <Table.Tr key={`${accountId} ${debit === undefined ? 'credit' : 'debit'}`}>
            <Table.Td fz="xs">
              <ObjectLink kind="ledgerAccount" id={accountId} />
            </Table.Td>
            {[debit, credit].map((amount, side) => (
              <Table.Td key={side === 0 ? 'debit' : 'credit'} fz="xs" ta="right">
                <LegAmount amount={amount} unit={unit} />
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function LegAmount({ amount, unit }: { readonly amount: string | undefined; readonly unit: string }) {
  if (amount === undefined || unit === 'INR') return <Money amount={amount} none="" />
  return <>{`${count(Number(amount))} coins`}</>
}
