import { TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { amountInWords } from '../amount-in-words.ts'
import { api, responseOf } from '../api.ts'
import { FormDialog, type FormProps } from '../parts/form-dialog.tsx'
import { readRupees, rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient } from '../session.ts'
import { shortId } from '../things.ts'

interface FundProps {
  readonly cardAccountId: string
  /** A small button, for rows of a table. */
  readonly compact?: boolean
}

type Funding = { amount: string; reference: string; reason: string }

/** Enters what a partner has paid in. */
export function FundCardAccount({ cardAccountId, compact = false }: FundProps) {
  return (
    <FormDialog
      label={compact ? `Fund ${shortId(cardAccountId)}` : 'Fund'}
      {...(compact && { compact: 'Fund', variant: 'default' })}
      {...fundingForm(cardAccountId)}
    />
  )
}

const RULES = {
  amount: (value: string) => {
    const amount = readRupees(value)
    return amount && Number(amount) > 0 ? null : 'Rupees with at most two decimals, such as 2,50,000'
  },
  reference: (value: string) =>
    /^[A-Za-z0-9][A-Za-z0-9 /_-]{5,63}$/.test(value.trim()) ? null : 'At least 6 letters and digits',
  reason: (value: string) => (value.trim() ? null : 'Say why: it is kept in the books'),
}

const fundingFields: FormProps<Funding>['fields'] = (form) => (
  <>
    <TextInput
      label="Amount in rupees"
      description={
        readRupees(form.values.amount)
          ? amountInWords(readRupees(form.values.amount)!)
          : 'What the partner has paid in, as the bank statement shows it'
      }
      inputMode="decimal"
      leftSection="₹"
      data-autofocus
      {...form.getInputProps('amount')}
    />
    <TextInput
      label="Bank reference"
      description="Of the partner’s payment, such as its UTR: each is entered once"
      {...form.getInputProps('reference')}
    />
    <TextInput
      label="Reason"
      description="Kept in the books and the audit"
      {...form.getInputProps('reason')}
    />
  </>
)

/** `waits` is called where a second person has to approve. */
export const fundingForm = (
  cardAccountId: string,
  initial: Funding = { amount: '', reference: '', reason: '' },
  waits?: () => void,
): FormProps<Funding> => ({
  send: 'Enter the money',
  initial,
  rules: RULES,
  fields: fundingFields,
  submit: async ({ amount, reference, reason }) => {
    const entered = await responseOf(
      api.POST('/card-accounts/{cardAccountId}/funds', {
        params: { path: { cardAccountId } },
        body: { amount: readRupees(amount) ?? amount, reference: reference.trim(), reason: reason.trim() },
      }),
    )
    if ('approvalId' in entered) {
      notifyWaiting(entered.amount)
      waits?.()
    } else
      notifications.show({
        color: 'teal',
        message: `Entered. The balance is ${rupees(entered.balance)} now.`,
      })
    await queryClient.invalidateQueries({ queryKey: ['card-accounts'] })
    await queryClient.invalidateQueries({ queryKey: ['ledger'] })
  },
})
