import { TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { readReference } from '@svc/kernel/bank-reference'
import { api, responseOf } from '../api.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { readRupees, rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient } from '../session.ts'

export type Funding = {
  readonly amount: string
  readonly reference: string
  readonly reason: string
}

/** Rules of what enters money by a bank's reference. */
export const FUND_RULES = {
  amount: (value: string) => {
    const amount = readRupees(value)
    return amount && Number(amount) > 0 ? null : 'Rupees with at most two decimals, such as 2,50,000'
  },
  reference: (value: string) => {
    const reading = readReference(value, { max: 64, digits: 'any' })
    return 'value' in reading ? null : `It ${reading.unreadable}`
  },
  reason: (value: string) => (value.trim() ? null : 'Say why: it is kept in the books'),
}

interface FieldsProps<F extends Funding> {
  readonly form: UseFormReturnType<F>
  /** What the amount and the reference are of. */
  readonly amountOf: string
  readonly referenceOf: string
}

export function FundFields<F extends Funding>({ form, amountOf, referenceOf }: FieldsProps<F>) {
  const amount = readRupees(form.values.amount)
  return (
    <>
      <TextInput
        label="Amount in rupees"
        description={amount ? <AmountInWords amount={amount} /> : amountOf}
        inputMode="decimal"
        leftSection="₹"
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <TextInput label="Bank reference" description={referenceOf} {...form.getInputProps('reference')} />
      <TextInput
        label="Reason"
        description="Kept in the books and the audit"
        {...form.getInputProps('reason')}
      />
    </>
  )
}

/** What the forms send. */
export const bodyOf = ({ amount, reference, reason }: Funding) => ({
  amount: readRupees(amount) ?? amount,
  reference: reference.trim(),
  reason: reason.trim(),
})

type Entered =
  | { readonly approvalId: string; readonly amount: string }
  | { readonly balance: string; readonly isRepeat: boolean }

/** Shows the outcome and reloads everything that shows money. True if the posting waits for a second person. */
export async function showEntered(entered: Entered): Promise<boolean> {
  const waits = 'approvalId' in entered
  if (waits) notifyWaiting(entered.amount)
  else
    notifications.show({
      color: entered.isRepeat ? 'yellow' : 'teal',
      message: entered.isRepeat
        ? `It was entered before: nothing was posted. The balance is ${rupees(entered.balance)}.`
        : `Entered. The balance is ${rupees(entered.balance)} now.`,
    })
  for (const key of ['card-accounts', 'bank-credits', 'ledger', 'notices'])
    await queryClient.invalidateQueries({ queryKey: [key] })
  return waits
}

/** Enters what a partner has paid in; `noticeId`: the notice in quarantine that reports it. */
export async function enterFunding(
  cardAccountId: string,
  funding: Funding,
  noticeId?: string,
): Promise<boolean> {
  const body = { ...bodyOf(funding), ...(noticeId !== undefined && { noticeId }) }
  const params = { path: { cardAccountId } }
  return showEntered(await responseOf(api.POST('/card-accounts/{cardAccountId}/funds', { params, body })))
}
