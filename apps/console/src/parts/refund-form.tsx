import { Text, TextInput } from '@mantine/core'
import { type FormKey } from '../form-key.ts'
import { AmountInWords } from './amount-in-words.tsx'
import { FormDialog, needed } from './form-dialog.tsx'
import { readRupees } from './money.tsx'

interface Refundable {
  readonly amount: number
  /** What it amounts to since it was corrected. */
  readonly adjustedAmount?: number
  readonly refundedAmount?: number
  readonly disputedAmount?: number
}

export interface RefundRequest {
  readonly amount: number
  readonly referenceNumber: string
  readonly reason: string
  /** The same for every try of one form. */
  readonly key: FormKey
}

interface RefundFormProps {
  readonly payment: Refundable
  /** Out of what it is paid. */
  readonly note: string
  /** Names the refund; each is refunded once. */
  readonly reference?: string
  readonly needsReason?: boolean
  readonly refund: (request: RefundRequest) => Promise<unknown>
}

/** In paise, so that no rest comes out as 0.30000000000000004. */
const restOf = ({
  amount,
  adjustedAmount = amount,
  refundedAmount = 0,
  disputedAmount = 0,
}: Refundable): string =>
  (
    (Math.round(adjustedAmount * 100) - Math.round(refundedAmount * 100) - Math.round(disputedAmount * 100)) /
    100
  ).toFixed(2)

/** A button that refunds a payment, or a part of it, while something of it is left. */
export function RefundForm({ payment, note, reference = '', needsReason = false, refund }: RefundFormProps) {
  const rest = restOf(payment)
  if (Number(rest) <= 0) return undefined
  return (
    <FormDialog
      label="Refund"
      send="Refund"
      variant="default"
      initial={{ amount: rest, referenceNumber: reference, reason: '' }}
      rules={{
        amount: (value: string) => (readRupees(value) ? null : 'Rupees with at most two decimals'),
        referenceNumber: needed,
        ...(needsReason && { reason: needed }),
      }}
      fields={(form) => {
        const amount = readRupees(form.values.amount)
        return (
          <>
            <Text size="sm" c="dimmed">
              {note} This cannot be undone.
            </Text>
            <TextInput
              label="Amount in rupees"
              description={amount ? <AmountInWords amount={amount} /> : undefined}
              inputMode="decimal"
              leftSection="₹"
              {...form.getInputProps('amount')}
            />
            <TextInput
              label={reference ? 'Reference' : 'Your reference'}
              description="One reference is refunded once"
              {...(reference === '' && { 'data-autofocus': true })}
              {...form.getInputProps('referenceNumber')}
            />
            <TextInput
              label="Reason"
              {...(reference !== '' && { 'data-autofocus': true })}
              {...form.getInputProps('reason')}
            />
          </>
        )
      }}
      submit={({ amount, referenceNumber, reason }, key) =>
        refund({
          amount: Number(readRupees(amount)),
          referenceNumber: referenceNumber.trim(),
          reason: reason.trim(),
          key,
        })
      }
    />
  )
}
