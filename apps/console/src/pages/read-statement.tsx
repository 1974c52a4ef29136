import { Alert, Anchor, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, fileAsBody, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { Figures } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, Money, rupees } from '../parts/money.tsx'
import { queryClient } from '../session.ts'
import type { ReadProps } from './bank-files.tsx'

type Read = Schemas['StatementImport']

interface StatementProps extends ReadProps {
  readonly bankAccountId: string
}

/** A bank statement is read first, which records nothing, and then recorded. */
export function ReadStatement({ bankAccountId, file, onDone }: StatementProps) {
  const path = { bankAccountId }
  const query = useQuery({
    queryKey: ['read-file', 'statement', bankAccountId, file.name, file.lastModified, file.size],
    queryFn: () =>
      responseOf(
        api.POST('/bank-accounts/{bankAccountId}/statements/read', { params: { path }, ...fileAsBody(file) }),
      ),
    gcTime: 0,
    retry: false,
  })
  const run = async () => {
    const params = { path, query: { name: file.name } }
    const done = await responseOf(
      api.POST('/bank-accounts/{bankAccountId}/statements', { params, ...fileAsBody(file) }),
    )
    for (const key of ['bank-accounts', 'statement-lines'])
      await queryClient.invalidateQueries({ queryKey: [key] })
    await onDone(<Done done={done} />)
  }
  return (
    <Loaded query={query}>
      {(read) => (
        <>
          <Counts read={read} />
          <Group justify="space-between">
            <Text size="sm" c="dimmed">
              What does not fit waits in Unmatched until you match or post it: nothing is lost.
            </Text>
            <ConfirmAction
              primary
              label={`Record ${counted(read.new, 'line')}`}
              confirm="Record them"
              run={run}
            >
              {counted(read.new, 'line')} are new; after them the account has {rupees(read.closingBalance)}.
              Recording the same file again changes nothing; a recorded line stays.
            </ConfirmAction>
          </Group>
        </>
      )}
    </Loaded>
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
  <Alert color="teal" title={`Recorded: ${counted(done.new, 'line')}`} role="status">
    <Text size="sm">
      {count(done.matched)} fit, {count(done.unmatched + done.differs)} do not.{' '}
      {done.unmatched + done.differs > 0 && (
        <Anchor component={Link} to="/statements" search={{ status: 'UNMATCHED' } as never} size="sm">
          See the lines that do not fit
        </Anchor>
      )}
    </Text>
  </Alert>
)
