import { Text, TextInput } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { queryClient, useSession } from '../session.ts'
import { Credit } from './suspense-actions.tsx'

/** Ends the wait of a credit that goes back to its payer, where the bank sends no notice of it. */
export function ConfirmReturn({ row }: { readonly row: Schemas['PaymentRow'] }) {
  const { can } = useSession()
  const { paymentId, status } = row
  if (status !== 'REFUND_PENDING' || !can('finance')) return undefined
  return (
    <FormDialog
      label="Record the return"
      send="Record it"
      variant="default"
      initial={{ reference: '', reason: '' }}
      rules={{ reason: needed }}
      fields={(form) => (
        <>
          <Credit row={row} />
          <Text size="sm">
            Only if the bank has sent it back, and no notice says so. This cannot be undone.
          </Text>
          <TextInput
            label="The bank’s reference"
            description="Of the return, if the bank names one"
            maxLength={64}
            {...form.getInputProps('reference')}
          />
          <TextInput
            label="Reason"
            description="How you know; stored with the change, for later questions"
            required
            maxLength={255}
            {...form.getInputProps('reason')}
          />
        </>
      )}
      submit={async ({ reference, reason }) => {
        await responseOf(
          api.POST('/payments/{paymentId}/returned', {
            params: { path: { paymentId } },
            body: { reason: reason.trim(), ...(reference.trim() !== '' && { reference: reference.trim() }) },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['payments'] })
      }}
    />
  )
}
