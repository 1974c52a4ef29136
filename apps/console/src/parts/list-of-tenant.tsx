import { Text } from '@mantine/core'
import { List, type ListProps } from './list-page.tsx'

/** What a list is, of all tenants or of one. */
export type ListKind<Row> = Pick<
  ListProps<Row>,
  'name' | 'caption' | 'columns' | 'rowKey' | 'filters' | 'sort' | 'summary'
>

/** Whose rows: the filter of the list that names the tenant, and its id. */
export type OfTenant = Readonly<Partial<Record<'merchantId' | 'partnerId' | 'tenantId', string>>>

/** What names the tenant where a list is of all of them. */
const OF_ALL = {
  filters: new Set(['merchantId', 'partnerId', 'tenantId']),
  columns: new Set(['Merchant', 'Partner', 'Merchant or partner']),
}

interface ListOfTenantProps<Row> extends Omit<ListProps<Row>, 'empty'> {
  readonly of: OfTenant
}

/** A list of all tenants on the page of one of them: without what names the tenant. */
export function ListOfTenant<Row>({ of, columns, filters, summary, ...list }: ListOfTenantProps<Row>) {
  return (
    <List
      {...list}
      id={JSON.stringify(of)}
      columns={columns.filter(({ title }) => !OF_ALL.columns.has(title))}
      // An index leads to the rows of one tenant, so that none of its filters is bounded.
      filters={filters
        .filter(({ name }) => !OF_ALL.filters.has(name))
        .map(({ bounds: _bounds, ...filter }) => filter)}
      {...(summary && { summary: (given: Record<string, string>) => summary({ ...given, ...of }) })}
      empty={<Text c="dimmed">None yet.</Text>}
    />
  )
}
