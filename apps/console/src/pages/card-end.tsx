import { TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

type Row = Schemas['CardReturnRow']

async function moved(): Promise<void> {
  for (const key of ['cards', 'card-returns', 'card-transactions', 'ledger', 'history'])
    await queryClient.invalidateQueries({ queryKey: [key] })
}

/** Whether a card is blocked or its last month is over. */
const hasEnded = ({ cardStatus, expiryMonth, expiryYear }: Schemas['Card']): boolean =>
  cardStatus.name === 'BL' || new Date(Number(expiryYear), Number(expiryMonth)) <= new Date()

interface Props {
  readonly detail: Schemas['CardDetail']
}

/** What is left on a card goes to a new card, or back to its card account at the holder's consent. */
export function EndCard({ detail: { card, balance } }: Props) {
  const { svcCardId } = card
  const path = { svcCardId }
  if (Number(balance) === 0) return undefined
  return (
    <>
      <ConfirmAction
        label="Replace"
        confirm="Replace card"
        danger
        withReason
        run={async (reason, key) => {
          const made = await responseOf(
            api.POST('/cards/{svcCardId}/replace', {
              params: { path, header: once(key) },
              body: { reason },
            }),
          )
          await moved()
          notifications.show({
            color: 'teal',
            autoClose: false,
            message: (
              <>
                The balance is on <ObjectLink kind="card" id={made.svcCardId} /> now.
              </>
            ),
          })
        }}
      >
        A new card with another number gets the balance. This one is blocked for good.
      </ConfirmAction>
      {hasEnded(card) && <ReturnBalance svcCardId={svcCardId} />}
    </>
  )
}

function ReturnBalance({ svcCardId }: { readonly svcCardId: string }) {
  return (
    <FormDialog
      label="Return balance"
      send="Return"
      variant="default"
      initial={{ consentReference: '' }}
      rules={{
        consentReference: (value: string) =>
          /^[!-~]{1,64}$/.test(value.trim()) ? null : 'One word of 64 letters, digits and signs at most',
      }}
      fields={(form) => (
        <TextInput
          label="Where the holder’s consent is recorded"
          description="What is left goes back to the card account, after a wait in which it can be put back"
          required
          maxLength={64}
          data-autofocus
          {...form.getInputProps('consentReference')}
        />
      )}
      submit={async ({ consentReference }, key) => {
        await responseOf(
          api.POST('/cards/{svcCardId}/return', {
            params: { path: { svcCardId }, header: once(key) },
            body: { consentReference: consentReference.trim() },
          }),
        )
        await moved()
      }}
    />
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Why', cell: ({ basis, consentReference }) => consentReference ?? sentenceCase(basis) },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Arrives', cell: ({ closedOn, dueOn }) => <Instant at={closedOn ?? dueOn} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { title: '', align: 'right', cell: (row) => row.status === 'WAITING' && <PutBack {...row} /> },
]

function PutBack({ returnId }: Row) {
  const { can } = useSession()
  if (!can('finance')) return undefined
  return (
    <ConfirmAction
      label="Put back"
      confirm="Put back on the card"
      compact
      withReason
      run={async (reason, key) => {
        await responseOf(
          api.POST('/card-returns/{returnId}/reverse', {
            params: { path: { returnId }, header: once(key) },
            body: { reason },
          }),
        )
        await moved()
      }}
    >
      The money goes back on the card. It is announced again before it returns by itself.
    </ConfirmAction>
  )
}

/** What returned, or is to return, from a card to its card account. */
export function CardReturns({ svcCardId }: { readonly svcCardId: string }) {
  const { data } = useQuery({
    queryKey: ['card-returns', svcCardId],
    queryFn: () => responseOf(api.GET('/card-returns', { params: { query: { svcCardId, limit: 10 } } })),
  })
  if (!data || data.data.length === 0) return undefined
  return (
    <Section title="Returns to the card account">
      <DataTable
        caption="The latest 10 returns to the card account"
        columns={COLUMNS}
        rows={data.data}
        rowKey={({ returnId }) => returnId}
      />
    </Section>
  )
}
