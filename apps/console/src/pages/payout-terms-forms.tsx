import { Group, TextInput } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { queryClient } from '../session.ts'

const changed = () => queryClient.invalidateQueries({ queryKey: ['merchants'] })

interface SetBankAccountProps {
  readonly merchantId: string
  readonly bankAccount: Schemas['MerchantBankAccount'] | undefined
}

/** The number is typed again for each change: only its last digits are shown anywhere. */
export function SetBankAccount({ merchantId, bankAccount }: SetBankAccountProps) {
  return (
    <FormDialog
      label={bankAccount ? 'Change bank account' : 'Set bank account'}
      send="Save"
      variant="default"
      initial={{
        holder: bankAccount?.holder ?? '',
        number: '',
        ifsc: bankAccount?.ifsc ?? '',
        gstState: bankAccount?.gstState ?? '',
      }}
      rules={{
        holder: needed,
        number: (value: string) => (/^\d{6,18}$/.test(value.trim()) ? null : '6 to 18 digits'),
        ifsc: (value: string) =>
          /^[A-Z]{4}0[A-Z0-9]{6}$/.test(value.trim()) ? null : 'Four letters, a zero, six letters or digits',
        gstState: (value: string) => (value === '' || /^\d{2}$/.test(value) ? null : 'Two digits'),
      }}
      fields={(form) => (
        <>
          <TextInput label="Holder" {...form.getInputProps('holder')} />
          <TextInput
            label="Account number"
            description="Payouts that are prepared already keep their account"
            inputMode="numeric"
            autoComplete="off"
            {...form.getInputProps('number')}
          />
          <Group grow align="start">
            <TextInput label="IFSC" placeholder="HDFC0000001" {...form.getInputProps('ifsc')} />
            <TextInput label="GST state" placeholder="29" {...form.getInputProps('gstState')} />
          </Group>
        </>
      )}
      submit={async ({ holder, number, ifsc, gstState }) => {
        const body = {
          holder: holder.trim(),
          number: number.trim(),
          ifsc: ifsc.trim(),
          ...(gstState !== '' && { gstState }),
        }
        await responseOf(
          api.PUT('/merchants/{merchantId}/bank-account', { params: { path: { merchantId } }, body }),
        )
        await changed()
      }}
    />
  )
}

const decimal = (value: string) =>
  /^\d{1,4}(?:\.\d{1,2})?$/.test(value) ? null : 'A number with at most two decimals'

export function SetFee({ merchantId }: { readonly merchantId: string }) {
  return (
    <FormDialog
      label="Set fee"
      send="Save"
      variant="default"
      initial={{ percent: '', fixed: '0', validFrom: '' }}
      rules={{ percent: decimal, fixed: decimal }}
      fields={(form) => (
        <>
          <Group grow align="start">
            <TextInput label="Percent of the amount" inputMode="decimal" {...form.getInputProps('percent')} />
            <TextInput label="Rupees for each payment" inputMode="decimal" {...form.getInputProps('fixed')} />
          </Group>
          <TextInput
            label="From"
            type="date"
            description="Business day from which it is charged; today when empty"
            {...form.getInputProps('validFrom')}
          />
        </>
      )}
      submit={async ({ percent, fixed, validFrom }) => {
        const body = { percent, fixed, ...(validFrom !== '' && { validFrom }) }
        await responseOf(api.POST('/merchants/{merchantId}/fees', { params: { path: { merchantId } }, body }))
        await changed()
      }}
    />
  )
}
