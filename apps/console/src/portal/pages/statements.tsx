import { Anchor, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { dayOf, startOfDay } from '../../business-day.ts'
import { DataTable, Framed } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money, sumOf } from '../../parts/money.tsx'
import { Page } from '../../parts/page.tsx'
import { StatementButton } from '../../parts/statement-button.tsx'
import { useSession } from '../../session.ts'
import { monthName } from '../../words.ts'
import { api, apiAt, payloadOf } from '../api.ts'
import { CsvDownload } from '../csv-download.tsx'
import { useMember } from '../session.ts'

const MONTHS = 12
/** A page of a list: more than the payouts of a year, one a bank day. */
const ALL = 500

/** The first day of the month that begins so many months after that of this day. */
const firstDay = (day: string, months: number): string =>
  new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + months, 1))
    .toISOString()
    .slice(0, 10)

interface Month {
  /** The first day of it, and of the one that follows. */
  readonly from: string
  readonly next: string
}

/** The latest first, which still runs. */
const monthsUntil = (today: string): readonly Month[] =>
  Array.from({ length: MONTHS }, (_, ago) => ({
    from: firstDay(today, -ago),
    next: firstDay(today, 1 - ago),
  }))

function useToday(): string {
  const { timeZone } = useSession()
  return dayOf(new Date().toISOString(), timeZone)
}

/** What there is of each month, for the books of the tenant. */
export function Statements() {
  const { kind } = useMember()
  return kind === 'merchant' ? <OfMerchant /> : <OfPartner />
}

const load = async () => {
  const params = { query: { limit: ALL } }
  const [documents, payouts] = await Promise.all([
    payloadOf(api.GET('/tax-documents', { params })),
    payloadOf(api.GET('/payouts', { params })),
  ])
  return { documents: documents.data, payouts: payouts.data }
}

function OfMerchant() {
  const today = useToday()
  const { timeZone } = useSession()
  const books = useQuery({ queryKey: ['statements'], queryFn: load })
  return (
    <Page
      title="Statements"
      lead="Payments, payouts and tax documents by month. The statement of a single payout is on its page."
    >
      <Loaded query={books}>
        {({ documents, payouts }) => (
          <Framed>
            <DataTable
              caption="Statements by month"
              columns={[
                { title: 'Month', cell: ({ from }: Month) => monthName(from) },
                {
                  title: 'Paid out',
                  align: 'right',
                  cell: ({ from, next }: Month) => (
                    <Money
                      amount={sumOf(
                        payouts
                          .filter((each) => each.status === 'PAID')
                          .filter(({ businessDay }) => businessDay >= from && businessDay < next)
                          .map(({ amount }) => amount.toFixed(2)),
                      )}
                    />
                  ),
                },
                {
                  title: 'Tax documents',
                  cell: ({ from }: Month) => (
                    <Documents of={documents.filter(({ period }) => from.startsWith(period))} />
                  ),
                },
                {
                  title: 'Payments',
                  align: 'right',
                  cell: ({ from, next }: Month) => (
                    <CsvDownload
                      label="CSV"
                      of={`Payments of ${monthName(from)}`}
                      path="/payments"
                      filters={{ from: startOfDay(from, timeZone), to: startOfDay(next, timeZone) }}
                      name={`payments-${from.slice(0, 7)}`}
                      compact
                    />
                  ),
                },
              ]}
              rows={monthsUntil(today)}
              rowKey={({ from }) => from}
            />
          </Framed>
        )}
      </Loaded>
    </Page>
  )
}

type Document = Awaited<ReturnType<typeof load>>['documents'][number]

function Documents({ of }: { readonly of: readonly Document[] }) {
  if (of.length === 0) return '–'
  return (
    <Stack gap={2}>
      {of.map(({ documentId, number }) => (
        <Anchor
          key={documentId}
          href={`${apiAt}/tax-documents/${documentId}/pdf`}
          download={`${number.replaceAll('/', '-')}.pdf`}
          size="sm"
          aria-label={`${number} as PDF`}
        >
          {number}
        </Anchor>
      ))}
    </Stack>
  )
}

const loadAccounts = () =>
  payloadOf(api.GET('/partner/card-accounts', { params: { query: { limit: ALL } } as never }))

function OfPartner() {
  const today = useToday()
  const accounts = useQuery({ queryKey: ['card-accounts', 'all'], queryFn: loadAccounts })
  const [chosen, choose] = useState<string | null>(null)
  return (
    <Page title="Statements" lead="Every movement of a card account by month, with the balance after it.">
      <Loaded query={accounts}>
        {({ data }) => {
          const cardAccountId = chosen ?? data[0]?.cardAccountId
          if (cardAccountId === undefined) return <Text c="dimmed">You have no card account yet.</Text>
          return (
            <Stack>
              <Select
                label="Card account"
                maw={420}
                allowDeselect={false}
                searchable
                data={data.map((each) => ({
                  value: each.cardAccountId,
                  label: `${each.companyName}, ${each.cardProgramme ?? each.accountType ?? each.cardAccountId}`,
                }))}
                value={cardAccountId}
                onChange={choose}
              />
              <Account cardAccountId={cardAccountId} today={today} />
            </Stack>
          )
        }}
      </Loaded>
    </Page>
  )
}

interface AccountProps {
  readonly cardAccountId: string
  readonly today: string
}

function Account({ cardAccountId, today }: AccountProps) {
  const path = `/partner/card-accounts/${cardAccountId}/statement`
  /** Whole days, of the running month until today. */
  const daysOf = ({ from, next }: Month) => {
    const last = new Date(Date.parse(next) - 86_400_000).toISOString().slice(0, 10)
    return { from, to: last < today ? last : today }
  }
  return (
    <Framed>
      <DataTable
        caption="Statements by month"
        columns={[
          { title: 'Month', cell: ({ from }: Month) => monthName(from) },
          {
            title: 'Statement',
            cell: (month: Month) => (
              <StatementButton
                href={`${apiAt}${path}.pdf?${new URLSearchParams(daysOf(month)).toString()}`}
                name={`statement-${month.from.slice(0, 7)}`}
                of={monthName(month.from)}
                compact
              />
            ),
          },
          {
            title: 'Movements',
            align: 'right',
            cell: (month: Month) => (
              <CsvDownload
                label="CSV"
                of={`Movements of ${monthName(month.from)}`}
                path={path}
                filters={daysOf(month)}
                name={`statement-${month.from.slice(0, 7)}`}
                compact
              />
            ),
          },
        ]}
        rows={monthsUntil(today)}
        rowKey={({ from }) => from}
      />
    </Framed>
  )
}
