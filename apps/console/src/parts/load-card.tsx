import { Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { readRupees, rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient, useSession } from '../session.ts'

interface Props {
  readonly card: Schemas['CardDetail']['card']
}

const DIRECTIONS = {
  load: {
    label: 'Load',
    send: 'Load the card',
    from: 'From its card account, within the limits of its type. Above the limit of one person, another one approves it.',
    done: 'Loaded',
  },
  unload: {
    label: 'Unload',
    send: 'Take it back',
    from: 'Back to its card account: at most what is neither spent nor held.',
    done: 'Taken back',
  },
} as const

/** Moves money between a card and its card account, on behalf of the partner. */
export function LoadCard({ card }: Props) {
  const { can } = useSession()
  const isOver = card.cardStatus.name === 'BL'
  if (!can('finance') || isOver || card.accountType.name === 'GIFT') return undefined
  return (
    <>
      <Move card={card} way="load" />
      {card.unallocateFundAllowed && <Move card={card} way="unload" />}
    </>
  )
}

function Move({ card: { svcCardId }, way }: Props & { readonly way: keyof typeof DIRECTIONS }) {
  const { label, send, from, done } = DIRECTIONS[way]
  return (
    <FormDialog
      label={label}
      send={send}
      variant="default"
      initial={{ amount: '', reference: '', reason: '' }}
      rules={{
        amount: (value: string) => (readRupees(value) ? null : 'Rupees with at most two decimals'),
        reference: (value: string) =>
          /^[!-~]{1,64}$/.test(value.trim()) ? null : 'One word of 64 letters, digits and signs at most',
        reason: needed,
      }}
      fields={(form) => <Fields form={form} from={from} />}
      submit={async ({ amount, reference, reason }, key) => {
        const requested = {
          params: { path: { svcCardId }, header: once(key) },
          body: {
            amount: Number(readRupees(amount)),
            referenceNumber: reference.trim(),
            reason: reason.trim(),
          },
        }
        const moved = await responseOf(
          way === 'load'
            ? api.POST('/cards/{svcCardId}/loads', requested)
            : api.POST('/cards/{svcCardId}/unloads', requested),
        )
        if ('approvalId' in moved) notifyWaiting(moved.amount)
        else
          notifications.show({
            color: 'teal',
            message: `${done}. The card has ${rupees(moved.balance)} now.`,
          })
        for (const changed of ['cards', 'card-transactions', 'card-accounts', 'ledger', 'approvals'])
          await queryClient.invalidateQueries({ queryKey: [changed] })
      }}
    />
  )
}

interface FieldsProps {
  readonly form: UseFormReturnType<{ amount: string; reference: string; reason: string }>
  readonly from: string
}

function Fields({ form, from }: FieldsProps) {
  const amount = readRupees(form.values.amount)
  return (
    <>
      <Text size="sm" c="dimmed">
        {from}
      </Text>
      <TextInput
        label="Amount in rupees"
        description={amount ? <AmountInWords amount={amount} /> : undefined}
        inputMode="decimal"
        leftSection="₹"
        required
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <TextInput
        label="The partner’s reference"
        description="Names this one movement: a repeat changes nothing"
        required
        maxLength={64}
        {...form.getInputProps('reference')}
      />
      <TextInput
        label="Reason"
        description="Kept in the books; name no person"
        required
        maxLength={255}
        {...form.getInputProps('reason')}
      />
    </>
  )
}
