import { Checkbox, Group, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { ConfirmAction, type ConfirmActionProps } from './confirm-action.tsx'
import { readRupees } from './money.tsx'

/** What is asked for most of a code; programs may say more. */
export const NO_CODE = {
  qrName: '',
  amount: '',
  fixedAmount: true,
  minimumAmount: '',
  multipleUse: false,
  referenceNumber: '',
  description: '',
}
type Values = typeof NO_CODE

const rupeesOrNone = (value: string) =>
  value.trim() === '' || readRupees(value) ? null : 'Rupees with at most two decimals, such as 249.50'

export const CODE_RULES = { amount: rupeesOrNone, minimumAmount: rupeesOrNone }

/** Fields of a code, the same to operators and members. */
export function CodeFields<Form extends Values>({
  form,
}: {
  readonly form: UseFormReturnType<Form>
}): ReactNode {
  const { amount, fixedAmount } = form.getValues()
  const hasAmount = amount.trim() !== ''
  return (
    <>
      <TextInput
        label="Name"
        description="The payer sees it as the note"
        placeholder="Counter 1"
        maxLength={100}
        data-autofocus
        {...form.getInputProps('qrName')}
      />
      <TextInput
        label="Amount in rupees"
        description="Empty: the payer chooses"
        inputMode="decimal"
        leftSection="₹"
        {...form.getInputProps('amount')}
      />
      <Group>
        <Checkbox
          label="Exactly this amount"
          disabled={!hasAmount}
          {...form.getInputProps('fixedAmount', { type: 'checkbox' })}
        />
        <Checkbox
          label="May be paid many times"
          {...form.getInputProps('multipleUse', { type: 'checkbox' })}
        />
      </Group>
      {hasAmount && !fixedAmount && (
        <TextInput
          label="At least, in rupees"
          description="Less is not accepted, and goes back to the payer"
          inputMode="decimal"
          leftSection="₹"
          {...form.getInputProps('minimumAmount')}
        />
      )}
      <TextInput
        label="Reference number"
        description="Of an order or a table; it comes back with each payment"
        maxLength={64}
        {...form.getInputProps('referenceNumber')}
      />
      <TextInput label="Description" maxLength={255} {...form.getInputProps('description')} />
    </>
  )
}

/** What was typed, as the service takes it: without what was left empty. */
export function codeOf(values: Values) {
  const amount = readRupees(values.amount)
  const minimum = readRupees(values.minimumAmount)
  const texts = (['qrName', 'referenceNumber', 'description'] as const).flatMap((name) => {
    const text = values[name].trim()
    return text === '' ? [] : [[name, text] as const]
  })
  return {
    ...(Object.fromEntries(texts) as Partial<Pick<Values, 'qrName' | 'referenceNumber' | 'description'>>),
    multipleUse: values.multipleUse,
    ...(amount !== undefined && {
      amount: Number(amount),
      fixedAmount: values.fixedAmount,
      ...(!values.fixedAmount && minimum !== undefined && { minimumAmount: Number(minimum) }),
    }),
  }
}

interface CancelCodeProps extends Pick<ConfirmActionProps, 'run'> {
  readonly name: string | undefined
}

export const CancelCode = ({ name, run }: CancelCodeProps) => (
  <ConfirmAction label="Cancel code" confirm="Cancel it for good" danger withReason="optional" run={run}>
    Nothing is accepted through {name === undefined ? 'it' : <b>{name}</b>} afterwards: money that is still
    sent goes back to its payers. This cannot be undone.
  </ConfirmAction>
)
