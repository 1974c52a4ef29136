import { Anchor, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { api, apiAt, listAt, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Download } from '../parts/download.tsx'
import { Day } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { count, counted, Money, sumOf } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { queryClient, useSession } from '../session.ts'
import { monthName } from '../words.ts'

type Document = Schemas['TaxDocumentRow']

const KINDS: Readonly<Record<Document['kind'], string>> = {
  INVOICE: 'Invoice',
  CREDIT_NOTE: 'Credit note',
  DEBIT_NOTE: 'Debit note',
}

const COLUMNS: readonly Column<Document>[] = [
  {
    title: 'Number',
    cell: ({ documentId, number }) => (
      <Anchor
        href={`${apiAt}/tax-documents/${documentId}/document.pdf`}
        download={`${number.replaceAll('/', '-')}.pdf`}
        size="sm"
        aria-label={`${number} as PDF`}
      >
        {number}
      </Anchor>
    ),
  },
  { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
  { title: 'Dated', cell: ({ issueDate }) => <Day day={issueDate} /> },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {merchantName}
      </ObjectLink>
    ),
  },
  { title: 'GSTIN', cell: ({ recipient }) => recipient.gstin ?? 'not registered' },
  { title: 'Payments', align: 'right', cell: (row) => count(row.count) },
  { title: 'Fees', align: 'right', cell: ({ taxableValue }) => <Money amount={taxableValue} /> },
  {
    title: 'GST',
    align: 'right',
    cell: ({ cgst, sgst, igst }) => <Money amount={sumOf([cgst, sgst, igst])} />,
  },
  { title: 'Total', align: 'right', cell: ({ total }) => <Money amount={total} fw={600} /> },
]

/** Sections of the monthly return of outward supplies, as the tax office names them. */
const SECTIONS = ['b2b', 'b2cs', 'cdnr', 'hsn', 'docs'] as const

/** Invoices, credit notes and debit notes of a month, and its return. */
export function TaxDocuments({ month }: { readonly month: string }) {
  const { can } = useSession()
  return (
    <Stack gap="md">
      <Section title="Invoices and notes" aside={can('finance') && <Issue month={month} />}>
        <List
          name="tax-documents"
          id={month}
          caption="Tax documents"
          load={listAt('/tax-documents', {}, { period: month })}
          columns={COLUMNS}
          rowKey={({ documentId }) => documentId}
          filters={[]}
          sort="-created"
          empty={<Text c="dimmed">No invoice of this month is issued yet.</Text>}
        />
      </Section>
      <Section title="Return of outward supplies (GSTR-1)">
        <Group gap="xs">
          {SECTIONS.map((section) => (
            <Download
              key={section}
              href={`/tax-returns/${month}/${section}`}
              name={`gstr1-${month}-${section}.csv`}
            >
              {section.toUpperCase()}
            </Download>
          ))}
        </Group>
      </Section>
    </Stack>
  )
}

function Issue({ month }: { readonly month: string }) {
  const name = monthName(`${month}-01`)
  const issue = async () => {
    const { data } = await responseOf(api.POST('/tax-documents', { body: { month } }))
    await queryClient.invalidateQueries({ queryKey: ['tax-documents'] })
    notifications.show({
      message:
        data.length === 0
          ? 'Everything is in an invoice already.'
          : `Issued: ${counted(data.length, 'invoice')}`,
    })
  }
  return (
    <ConfirmAction label="Issue the invoices" confirm={`Issue those of ${name}`} compact run={issue}>
      One invoice for each merchant, of all fees of {name} that are in none. A number is never used again; a
      credit note lessens an invoice.
    </ConfirmAction>
  )
}
