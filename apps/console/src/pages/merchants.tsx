import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { type Filter, STATUS } from '../parts/filters.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { BUSINESS_RULES, BusinessFields, NO_BUSINESS } from './merchant-form.tsx'

const COLUMNS: readonly Column<Schemas['MerchantRow']>[] = [
  {
    title: 'Merchant',
    sorts: ['name'],
    cell: ({ merchantId, name }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {name}
      </ObjectLink>
    ),
  },
  { title: 'VPA', cell: ({ vpa }) => vpa },
  { title: 'Category', cell: ({ mcc }) => mcc },
  {
    title: 'Accepted, 7 × 24 h',
    align: 'right',
    sum: ({ taken }) => taken,
    cell: ({ taken }) => <Money amount={taken} />,
  },
  {
    title: 'Owed, before fees',
    align: 'right',
    sum: ({ owed }) => owed,
    cell: ({ owed }) => <Money amount={owed} fw={600} />,
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id, or begin of name or VPA' },
  STATUS,
]

export function Merchants() {
  const { can } = useSession()
  const create = can('operations') && (
    <>
      <CreateMerchant />
      <Button component={Link} to="/merchants/set-up">
        Onboard merchant
      </Button>
    </>
  )
  return (
    <ListPage
      title="Merchants"
      lead="Tenants of the payment gateway. They create QR codes and are paid through them."
      actions={create}
      name="merchants"
      caption="Merchants"
      load={listAt('/merchants')}
      columns={COLUMNS}
      rowKey={({ merchantId }) => merchantId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No merchants yet" action={create}>
          A merchant trades its API key for a token and creates UPI QR codes. Register the first one here or
          with the command line.
        </EmptyState>
      }
    />
  )
}

function CreateMerchant() {
  const [issued, setIssued] = useState<{ merchantId: string; apiKey: string }>()
  return (
    <>
      <FormDialog
        label="Create merchant"
        send="Create"
        variant="default"
        initial={NO_BUSINESS}
        rules={BUSINESS_RULES}
        fields={(form) => <BusinessFields form={form} />}
        submit={async (body, key) => {
          const { merchant, credential } = await responseOf(
            api.POST('/merchants', { params: { header: once(key) }, body }),
          )
          setIssued(credential && { merchantId: merchant.merchantId, apiKey: credential.secret })
          await queryClient.invalidateQueries({ queryKey: ['merchants'] })
        }}
      />
      <SecretOnce
        what="API key"
        secret={issued?.apiKey}
        beside={issued ? [{ label: 'Merchant', value: issued.merchantId }] : []}
        onDone={() => setIssued(undefined)}
      />
    </>
  )
}
