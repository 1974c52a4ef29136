import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { once } from '../../form-key.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money } from '../../parts/money.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { accountTypeLabel } from '../../words.ts'
import { api, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const load = (svcCardId: string) =>
  payloadOf(api.GET('/partner/svcCard/{svcCardId}', { params: { path: { svcCardId } } }))
type Detail = Awaited<ReturnType<typeof load>>

export function Card() {
  const { svcCardId = '' } = useParams({ strict: false })
  const card = useQuery({ queryKey: ['cards', svcCardId], queryFn: () => load(svcCardId) })
  return (
    <Page
      title={card.data?.maskedNumber ?? 'Card'}
      badge={card.data && <StatusBadge state={card.data.cardStatus.name} />}
      trail={[{ to: '/card-accounts', label: 'Card accounts' }]}
      actions={card.data && <ChangeStatus svcCardId={svcCardId} card={card.data} />}
    >
      <Loaded query={card}>
        {(one) => (
          <Section title="About">
            <Facts facts={factsOf(svcCardId, one)} />
          </Section>
        )}
      </Loaded>
    </Page>
  )
}

const factsOf = (svcCardId: string, card: Detail) => [
  { label: 'Holder', value: `${card.firstName} ${card.lastName}`.trim() },
  { label: 'Company', value: card.companyName },
  { label: 'Type', value: accountTypeLabel(card.accountType.name) },
  { label: 'Open to buy', value: <Money amount={card.otbBalance} fw={700} /> },
  { label: 'Balance', value: <Money amount={card.accountBalance} /> },
  { label: 'Expires', value: `${card.expiryMonth}/${card.expiryYear}` },
  { label: 'KYC', value: card.kycStatus.label },
  { label: 'Issued', value: <Instant at={card.createdOn} /> },
  { label: 'Id', value: <Id id={svcCardId} what="card id" /> },
]

const STATUSES = [
  { value: 'UL', label: 'Unlocked' },
  { value: 'L', label: 'Locked: can be unlocked again' },
  { value: 'BL', label: 'Blocked: for good' },
]

function ChangeStatus({ svcCardId, card }: { readonly svcCardId: string; readonly card: Detail }) {
  const { can } = useMember()
  if (!can('operator') || card.cardStatus.name === 'BL') return undefined
  return (
    <FormDialog
      label="Lock, unlock or block"
      send="Change"
      variant="default"
      initial={{ status: card.cardStatus.name as string, reason: '' }}
      fields={(form) => (
        <>
          <Select label="Status" data={STATUSES} allowDeselect={false} {...form.getInputProps('status')} />
          <TextInput label="Reason" {...form.getInputProps('reason')} />
        </>
      )}
      submit={async ({ status, reason }, key) => {
        await payloadOf(
          api.PATCH('/partner/svcCard/{svcCardId}/status', {
            params: { path: { svcCardId }, header: once(key) },
            body: { status: status as 'L' | 'UL' | 'BL', ...(reason.trim() && { reason: reason.trim() }) },
          }),
        )
        await changed('cards')
      }}
    />
  )
}
