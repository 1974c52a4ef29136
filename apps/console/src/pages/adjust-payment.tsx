import { Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { api, responseOf, type Schemas } from '../api.ts'
import { PLATFORM_TENANT } from '../objects.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { readRupees, rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient, useSession } from '../session.ts'

/** Corrects what an accepted payment amounts to, until the bank has paid for it. */
export function AdjustPayment({ detail: payment }: { readonly detail: Schemas['PaymentDetailInConsole'] }) {
  const { can } = useSession()
  const { merchantId, settlement } = payment
  const isOpen = payment.status === 'ACCEPTED' && settlement?.status !== 'MATCHED'
  if (!isOpen || merchantId === PLATFORM_TENANT || !can('finance')) return undefined
  return (
    <FormDialog
      label="Correct the amount"
      send="Correct it"
      variant="default"
      initial={{
        amount: settlement?.status === 'DIFFERS' ? settlement.amount : '',
        reference: '',
        reason: '',
      }}
      rules={{
        amount: (value: string) => (readRupees(value) ? null : 'Rupees with at most two decimals'),
        reference: needed,
        reason: needed,
      }}
      fields={(form) => <Fields form={form} payment={payment} />}
      submit={async ({ amount, reference, reason }) => {
        const adjusted = await responseOf(
          api.POST('/payments/{paymentId}/adjustments', {
            params: { path: { paymentId: payment.paymentId } },
            body: {
              amount: Number(readRupees(amount)),
              reference: reference.trim(),
              reason: reason.trim(),
            },
          }),
        )
        if ('approvalId' in adjusted) notifyWaiting(adjusted.amount)
        await queryClient.invalidateQueries({ queryKey: ['payments'] })
      }}
    />
  )
}

interface FieldsProps {
  readonly form: UseFormReturnType<{ amount: string; reference: string; reason: string }>
  readonly payment: Schemas['PaymentDetailInConsole']
}

function Fields({ form, payment }: FieldsProps) {
  const amount = readRupees(form.values.amount)
  return (
    <>
      <Text size="sm" c="dimmed">
        The payment amounts to {rupees(payment.adjustedAmount ?? payment.amount)}. What is payable to the
        merchant changes by the difference.
      </Text>
      <TextInput
        label="Amount that it should have had, in rupees"
        description={amount ? <AmountInWords amount={amount} /> : undefined}
        inputMode="decimal"
        leftSection="₹"
        required
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <TextInput
        label="The bank’s reference"
        description="Of its correction, such as that of its letter; it is entered once"
        required
        maxLength={64}
        {...form.getInputProps('reference')}
      />
      <TextInput
        label="Reason"
        description="Stored in the journal, for later questions"
        required
        maxLength={255}
        {...form.getInputProps('reason')}
      />
    </>
  )
}
