import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { type Filter, STATUS } from '../parts/filters.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { Mark, StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { PRODUCTS, productLabel } from '../words.ts'

const COLUMNS: readonly Column<Schemas['PartnerRow']>[] = [
  {
    title: 'Partner',
    sorts: ['name'],
    cell: ({ partnerId, name }) => (
      <ObjectLink kind="partner" id={partnerId}>
        {name}
      </ObjectLink>
    ),
  },
  {
    title: 'Products',
    cell: ({ products }) => (
      <Group gap={4} component="span">
        {products.map((product) => (
          <Mark key={product} color="brand">
            {productLabel(product)}
          </Mark>
        ))}
      </Group>
    ),
  },
  {
    title: 'Spent, 7 × 24 h',
    align: 'right',
    sum: ({ spent }) => spent,
    cell: ({ spent }) => <Money amount={spent} />,
  },
  {
    title: 'Balance',
    align: 'right',
    sum: ({ balance }) => balance,
    cell: ({ balance }) => <Money amount={balance} fw={600} />,
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id, or begin of the name' },
  STATUS,
]

export function Partners() {
  const { can } = useSession()
  const create = can('operations') && (
    <>
      <CreatePartner />
      <Button component={Link} to="/partners/set-up">
        Onboard partner
      </Button>
    </>
  )
  return (
    <ListPage
      title="Partners"
      lead="Tenants of cards and rewards. Their companies’ users hold the cards."
      actions={create}
      name="partners"
      caption="Partners"
      load={listAt('/partners')}
      columns={COLUMNS}
      rowKey={({ partnerId }) => partnerId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No partners yet" action={create}>
          A partner gets an OAuth client and orders cards for the users of its companies with encrypted
          requests.
        </EmptyState>
      }
    />
  )
}

const RULES = {
  name: needed,
  products: (value: string[]) => (value.length > 0 ? null : 'Choose at least one'),
}

function CreatePartner() {
  const { mode } = useSession()
  const [issued, setIssued] = useState<{ partnerId: string; credentialId: string; secret: string }>()
  return (
    <>
      <FormDialog
        label="Create partner"
        send="Create"
        variant="default"
        initial={{ name: '', products: ['incentive'], plainRequests: false }}
        rules={RULES}
        fields={(form) => (
          <>
            <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
            <Checkbox.Group label="Products" {...form.getInputProps('products')}>
              <Group mt={4}>
                {PRODUCTS.map(({ value, label }) => (
                  <Checkbox key={value} value={value} label={label} />
                ))}
              </Group>
            </Checkbox.Group>
            {mode === 'sandbox' && (
              <Checkbox
                label="Its requests need not be encrypted"
                description="For first steps; exists in the sandbox only"
                {...form.getInputProps('plainRequests', { type: 'checkbox' })}
              />
            )}
          </>
        )}
        submit={async ({ plainRequests, ...named }, key) => {
          const products = named.products as Schemas['Partner']['products']
          const body = { ...named, products, ...(plainRequests && { plainRequests }) }
          const { partner, credential } = await responseOf(
            api.POST('/partners', { params: { header: once(key) }, body }),
          )
          setIssued(credential && { ...credential, partnerId: partner.partnerId })
          await queryClient.invalidateQueries({ queryKey: ['partners'] })
        }}
      />
      <SecretOnce
        what="Client secret"
        secret={issued?.secret}
        beside={
          issued
            ? [
                { label: 'Partner', value: issued.partnerId },
                { label: 'Client id', value: issued.credentialId },
              ]
            : []
        }
        onDone={() => setIssued(undefined)}
      />
    </>
  )
}
