import { Alert, Anchor, Group, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, fileAsBody, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { Figures } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, Money, rupees } from '../parts/money.tsx'
import { Page } from '../parts/page.tsx'
import { ReadFirst } from '../parts/read-first.tsx'
import { queryClient } from '../session.ts'
import { bankAccountsQuery } from './statements.tsx'

type Read = Schemas['StatementImport']
interface Of {
  readonly account: Schemas['BankAccount']
}
interface ReadFile extends Of {
  readonly file: File
  readonly read: Read
}

/** A bank statement is read first, which records nothing, and then imported. */
export function ImportStatement() {
  const accounts = useQuery(bankAccountsQuery)
  return (
    <Page
      title="Import a bank statement"
      lead="The file is read first: nothing is recorded before you have seen what fits and import it."
      trail={[{ to: '/statements', label: 'Bank statements' }]}
    >
      <Loaded query={accounts}>{({ data }) => <Import accounts={data} />}</Loaded>
    </Page>
  )
}

function Import({ accounts }: { readonly accounts: readonly Schemas['BankAccount'][] }) {
  const [accountId, setAccountId] = useState(accounts[0]?.bankAccountId)
  const account = accounts.find(({ bankAccountId }) => bankAccountId === accountId)
  if (!account) return <Text c="dimmed">There is no bank account yet.</Text>
  const read = async (file: File): Promise<ReadFile> => {
    const path = { bankAccountId: account.bankAccountId }
    const call = api.POST('/bank-accounts/{bankAccountId}/statements/read', {
      params: { path },
      ...fileAsBody(file),
    })
    return { account, file, read: await responseOf(call) }
  }
  return (
    <Stack gap="md">
      <Select
        label="Account"
        data={accounts.map(({ bankAccountId, name, accountEnds }) => ({
          value: bankAccountId,
          label: `${name}, ending in ${accountEnds}`,
        }))}
        value={account.bankAccountId}
        onChange={(chosen) => setAccountId(chosen ?? undefined)}
        allowDeselect={false}
        maw={420}
      />
      <ReadFirst<ReadFile, Read>
        what="a bank statement"
        hint="CSV, MT940 or camt.053, up to 16 MB."
        read={read}
        found={(of, onDone) => <Found of={of} onDone={onDone} />}
        done={(done) => <Done done={done} />}
      />
    </Stack>
  )
}

interface FoundProps {
  readonly of: ReadFile
  readonly onDone: (done: Read) => void
}

function Found({ of: { account, file, read }, onDone }: FoundProps) {
  const run = async () => {
    const path = { bankAccountId: account.bankAccountId }
    const call = api.POST('/bank-accounts/{bankAccountId}/statements', {
      params: { path },
      ...fileAsBody(file),
    })
    const done = await responseOf(call)
    await queryClient.invalidateQueries({ queryKey: ['bank-accounts'] })
    await queryClient.invalidateQueries({ queryKey: ['statement-lines'] })
    onDone(done)
  }
  return (
    <Stack gap="md">
      <Counts read={read} />
      <Group justify="flex-end">
        <ConfirmAction primary label={`Import ${counted(read.new, 'line')}`} confirm="Import them" run={run}>
          {counted(read.new, 'line')} of {account.name} are new; after them the account has{' '}
          {rupees(read.closingBalance)}. Importing the same file again changes nothing; a recorded line stays.
        </ConfirmAction>
      </Group>
    </Stack>
  )
}

const Counts = ({ read }: { readonly read: Read }) => (
  <Figures
    figures={[
      { label: 'Opens with', value: <Money amount={read.openingBalance} /> },
      { label: 'Closes with', value: <Money amount={read.closingBalance} /> },
      { label: 'New lines', value: count(read.new), note: `of ${count(read.lines)} in the file` },
      { label: 'Fit', value: count(read.matched) },
      { label: 'Differ', value: count(read.differs), bad: read.differs > 0 },
      { label: 'Do not fit', value: count(read.unmatched), bad: read.unmatched > 0 },
    ]}
  />
)

const Done = ({ done }: { readonly done: Read }) => (
  <Alert color="teal" title={`Imported: ${counted(done.new, 'line')}`} role="status">
    <Text size="sm">
      {count(done.matched)} fit, {count(done.unmatched + done.differs)} do not.{' '}
      <Anchor component={Link} to="/statements?status=UNMATCHED" size="sm">
        See the lines that do not fit
      </Anchor>
    </Text>
  </Alert>
)
