import type { Schemas } from '../api.ts'
import { accountTypeLabel, productLabel } from '../words.ts'
import { BY_TIME, type Column } from './data-table.tsx'
import { Instant } from './instant.tsx'
import { Money } from './money.tsx'
import { ObjectLink } from './object-link.tsx'

/** What operators and members see of a card account. */
export type AccountRow = Pick<
  Schemas['CardAccount'],
  | 'cardAccountId'
  | 'cardProgramme'
  | 'companyId'
  | 'companyName'
  | 'product'
  | 'accountType'
  | 'denomination'
  | 'createdOn'
> & { readonly balance: number | string }

export const ACCOUNT_COLUMNS: readonly Column<AccountRow>[] = [
  {
    title: 'Card account',
    cell: ({ cardAccountId, cardProgramme }) => (
      <ObjectLink kind="cardAccount" id={cardAccountId}>
        {cardProgramme}
      </ObjectLink>
    ),
  },
  {
    title: 'Company',
    cell: ({ companyId, companyName }) => (
      <ObjectLink kind="company" id={companyId}>
        {companyName}
      </ObjectLink>
    ),
  },
  { title: 'Product', cell: ({ product }) => productLabel(product) },
  { title: 'Type', cell: ({ accountType }) => accountTypeLabel(accountType) },
  { title: 'Load by default', align: 'right', cell: ({ denomination }) => <Money amount={denomination} /> },
  {
    title: 'Balance',
    align: 'right',
    sum: ({ balance }) => balance,
    cell: ({ balance }) => <Money amount={balance} fw={600} />,
  },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]
