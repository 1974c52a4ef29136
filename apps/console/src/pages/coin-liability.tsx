import { Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'

type Row = Schemas['CoinLiability']
type Counted = 'coins' | 'pending' | 'expireWithin30Days' | 'expireWithin90Days'

const counted = (title: string, name: Counted): Column<Row> => ({
  title,
  align: 'right',
  cell: (row) => (
    <>
      {count(row[name])}
      {row.value && (
        <Text size="xs" c="dimmed">
          <Money amount={row.value[name]} />
        </Text>
      )}
    </>
  ),
})

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Partner', cell: ({ partnerId }) => <ObjectLink kind="partner" id={partnerId} /> },
  { title: 'Users', align: 'right', cell: ({ users }) => count(users) },
  counted('Coins', 'coins'),
  counted('Pending', 'pending'),
  counted('Expire in 30 days', 'expireWithin30Days'),
  counted('In 90 days', 'expireWithin90Days'),
  { title: 'Never expire', align: 'right', cell: ({ neverExpire }) => count(neverExpire) },
]

const RUPEES = /^\d{1,6}(?:\.\d{1,4})?$/

/** What users hold of each partner's coins, valued in rupees where the operator says what a coin is worth. */
export function CoinLiability() {
  const [typed, setTyped] = useState('')
  const isWrong = typed !== '' && !RUPEES.test(typed)
  const [rupeesPerCoin] = useDebouncedValue(isWrong ? '' : typed, 300)
  const query = useQuery({
    queryKey: ['coin-liability', rupeesPerCoin],
    queryFn: () =>
      responseOf(
        api.GET('/coin-liability', { params: { query: { ...(rupeesPerCoin !== '' && { rupeesPerCoin }) } } }),
      ),
  })
  return (
    <Section title="Liability">
      <TextInput
        label="Rupees per coin"
        description="Values the coins; leave it empty to count them only"
        placeholder="0.25"
        maw={260}
        mb="sm"
        value={typed}
        error={isWrong && 'Rupees with at most four decimals, such as 0.25'}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed" size="sm">
              No user holds coins.
            </Text>
          ) : (
            <DataTable
              caption="Coins that users hold, by partner"
              columns={COLUMNS}
              rows={data}
              rowKey={({ partnerId }) => partnerId}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
