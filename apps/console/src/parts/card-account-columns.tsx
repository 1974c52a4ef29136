import type { Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { accountTypeLabel, productLabel } from '../words.ts'

export const ACCOUNT_COLUMNS: readonly Column<Schemas['CardAccount']>[] = [
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
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]
