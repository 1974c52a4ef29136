import { Alert, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Download } from '../parts/download.tsx'
import { Day, dayText } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, Money, negated, rupees } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { actorName, purposeLabel } from '../words.ts'

type Proof = Schemas['FundsProofDetail']
type Account = Schemas['ProvenAccount']
type Coverage = Schemas['ProvenCoverage']

const DIFFERENCES: Readonly<Record<Account['differences'][number]['kind'], string>> = {
  opening: 'From before the first statement',
  deposit_in_transit: 'In the books, on its way to the bank',
  payment_in_transit: 'In the books, on its way from the bank',
  statement_only: 'On the statement, not in the books',
  amount_differs: 'In both, with different amounts',
}

interface FundsProofProps {
  readonly day: string
  readonly choose: (day: string) => void
}

/** What the banks have, what the books say, and whether it covers what is owed, at the end of a day. */
export function FundsProof({ day, choose }: FundsProofProps) {
  const query = useQuery({
    queryKey: ['funds-proofs', day],
    queryFn: () => responseOf(api.GET('/funds-proofs/{date}', { params: { path: { date: day } } })),
  })
  return (
    <Stack gap="md">
      <Group align="end" justify="space-between">
        <TextInput
          type="date"
          label="At the end of"
          value={day}
          onChange={(event) => choose(event.currentTarget.value)}
        />
        <Download href={`/funds-proofs/${day}/proof.zip`} name={`proof-${day}.zip`}>
          Everything it is made of (ZIP)
        </Download>
      </Group>
      <Loaded query={query}>
        {(proof) => (
          <Stack gap="md">
            <Verdict proof={proof} />
            {proof.accounts.map((account) => (
              <AccountProof key={account.purpose} account={account} />
            ))}
            {proof.coverage.map((coverage) => (
              <Covers key={coverage.purpose} coverage={coverage} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Stack>
  )
}

function Verdict({ proof: { accounts, date, provisional, whole } }: { readonly proof: Proof }) {
  if (accounts.length === 0)
    return (
      <Alert color="gray" title="There is nothing to prove" role="status">
        No bank account was open on {dayText(date)}.
      </Alert>
    )
  return (
    <Alert
      color={whole ? (provisional ? 'yellow' : 'teal') : 'red'}
      title={whole ? 'The books equal the banks' : 'The books do not equal the banks'}
      role="status"
    >
      {whole
        ? 'Every difference is explained, and escrow covers what is owed. '
        : 'See what is unexplained, or missing. '}
      {provisional && 'A statement of the day is missing, or the day is not over: this may change.'}
    </Alert>
  )
}

interface Step {
  readonly what: string
  readonly amount: string
  readonly isSum?: boolean
}

const STEPS: readonly Column<Step>[] = [
  {
    title: 'What',
    cell: ({ what, isSum = false }) => (
      <Text span inherit {...(isSum && { fw: 600 })}>
        {what}
      </Text>
    ),
  },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, isSum = false }) => <Money amount={amount} {...(isSum && { fw: 600 })} />,
  },
]

const ITEMS: readonly Column<Schemas['ProofItem'] & { readonly why: string }>[] = [
  { title: 'Reference', cell: ({ reference }) => reference || '–' },
  { title: 'Why', cell: ({ why }) => why },
  { title: 'Day', cell: ({ date }) => <Day day={date} /> },
  { title: 'Days', align: 'right', cell: ({ ageDays }) => count(ageDays) },
  { title: 'Owner', cell: ({ owner }) => actorName(owner) || '–' },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} signed /> },
]

function AccountProof({ account }: { readonly account: Account }) {
  const { purpose, booksBalance, differences, statementBalance, unexplained } = account
  const name = purposeLabel(purpose)
  const items = differences.flatMap(({ kind, items: of }) =>
    of.map((item) => ({ ...item, why: DIFFERENCES[kind] })),
  )
  const steps: readonly Step[] = [
    { what: 'The books', amount: booksBalance, isSum: true },
    ...differences.map(({ kind, amount, count: found }) => ({
      what: `${DIFFERENCES[kind]}, ${counted(found, 'movement')}`,
      amount,
    })),
    { what: 'Unexplained', amount: unexplained },
    { what: 'The statement', amount: statementBalance, isSum: true },
  ]
  return (
    <Section title={name}>
      <Stack gap="md">
        <DataTable caption={name} columns={STEPS} rows={steps} rowKey={({ what }) => what} />
        {items.length > 0 && (
          <DataTable
            caption={`Differences of ${name}`}
            columns={ITEMS}
            rows={items}
            rowKey={({ documentId, why }) => `${documentId} ${why}`}
          />
        )}
      </Stack>
    </Section>
  )
}

const isThere = ({ amount }: { readonly amount: string }): boolean => amount !== '0.00'

function Covers({ coverage }: { readonly coverage: Coverage }) {
  const { purpose, owed, due, required, bank, surplus } = coverage
  const title = `What ${purposeLabel(purpose).toLowerCase()} must cover`
  const steps: readonly Step[] = [
    ...owed.filter(isThere).map((each) => ({ what: each.title, amount: each.amount })),
    ...due
      .filter(isThere)
      .map((each) => ({ what: `Less what is owed to us: ${each.title}`, amount: negated(each.amount) })),
    { what: 'Must be there', amount: required, isSum: true },
    { what: 'At the bank', amount: bank, isSum: true },
  ]
  const isShort = surplus.startsWith('-')
  return (
    <Section
      title={title}
      aside={
        <Text size="sm" fw={600} {...(isShort && { c: 'var(--mantine-color-error)' })}>
          {isShort ? `${rupees(surplus.slice(1))} too little` : `${rupees(surplus)} more than that`}
        </Text>
      }
    >
      <DataTable caption={title} columns={STEPS} rows={steps} rowKey={({ what }) => what} />
    </Section>
  )
}
