import { Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { FormKey } from '../form-key.ts'
import { AmountInWords } from './amount-in-words.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { readRupees, rupees } from './money.tsx'
import { notifyWaiting } from './notify-waiting.ts'

export interface CardMoney {
  readonly amount: number
  readonly referenceNumber: string
  readonly reason: string
}

interface Props {
  readonly card: {
    readonly svcCardId: string
    readonly cardStatus: { readonly name: string }
    readonly accountType: { readonly name: string }
    readonly unallocateFundAllowed: boolean
  }
  /** What else people should know of it. */
  readonly note?: string
  /** Moves the money, and says what the card has then, or what waits for a second person. */
  readonly move: (
    way: keyof typeof DIRECTIONS,
    money: CardMoney,
    key: FormKey,
  ) => Promise<{ readonly balance: number | string } | { readonly waits: string }>
}

const DIRECTIONS = {
  load: {
    label: 'Load',
    send: 'Load the card',
    from: 'From its card account, within the limits of its type.',
    done: 'Loaded',
  },
  unload: {
    label: 'Unload',
    send: 'Take it back',
    from: 'Back to its card account: at most what is neither spent nor held.',
    done: 'Taken back',
  },
} as const

/** Moves money between a card and its card account. */
export function LoadCard({ card, note, move }: Props) {
  if (card.cardStatus.name === 'BL' || card.accountType.name === 'GIFT') return undefined
  return (
    <>
      <Move way="load" note={note} move={move} />
      {card.unallocateFundAllowed && <Move way="unload" move={move} />}
    </>
  )
}

interface MoveProps extends Pick<Props, 'move'> {
  readonly way: keyof typeof DIRECTIONS
  readonly note?: string | undefined
}

function Move({ way, note, move }: MoveProps) {
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
      fields={(form) => <Fields form={form} from={[from, note].filter(Boolean).join(' ')} />}
      submit={async ({ amount, reference, reason }, key) => {
        const money = {
          amount: Number(readRupees(amount)),
          referenceNumber: reference.trim(),
          reason: reason.trim(),
        }
        const moved = await move(way, money, key)
        if ('waits' in moved) notifyWaiting(moved.waits)
        else
          notifications.show({
            color: 'teal',
            message: `${done}. The card has ${rupees(moved.balance)} now.`,
          })
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
        label="Reference"
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
