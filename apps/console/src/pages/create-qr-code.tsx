import { Checkbox, Group, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { once } from '../form-key.ts'
import { pathOf } from '../objects.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { readRupees } from '../parts/money.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient } from '../session.ts'

/** A form for a code of a merchant, with the fields that are asked for most; the merchant's own call takes more. */
export function CreateQrCode() {
  const navigate = useNavigate()
  return (
    <FormDialog
      label="Create QR code"
      send="Create"
      initial={{
        merchantId: '',
        qrName: '',
        amount: '',
        fixedAmount: true,
        multipleUse: false,
        referenceNumber: '',
        description: '',
      }}
      rules={{
        merchantId: needed,
        qrName: needed,
        amount: (value: string) =>
          value === '' || readRupees(value) ? null : 'Rupees with at most two decimals, such as 249.50',
      }}
      fields={(form) => (
        <>
          <Picker of="merchant" {...form.getInputProps('merchantId')} />
          <TextInput
            label="Name"
            description="The payer sees it as the note"
            maxLength={100}
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
              disabled={form.getValues().amount === ''}
              {...form.getInputProps('fixedAmount', { type: 'checkbox' })}
            />
            <Checkbox
              label="May be paid many times"
              {...form.getInputProps('multipleUse', { type: 'checkbox' })}
            />
          </Group>
          <TextInput
            label="Reference number"
            description="The merchant’s own"
            maxLength={64}
            {...form.getInputProps('referenceNumber')}
          />
          <TextInput label="Description" maxLength={255} {...form.getInputProps('description')} />
        </>
      )}
      submit={async (
        { merchantId, qrName, amount, fixedAmount, multipleUse, referenceNumber, description },
        key,
      ) => {
        const rupees = readRupees(amount)
        const code = await responseOf(
          api.POST('/qr-codes', {
            body: {
              merchantId,
              qrCode: {
                qrName,
                multipleUse,
                ...(rupees && { amount: Number(rupees), fixedAmount }),
                ...(referenceNumber && { referenceNumber }),
                ...(description && { description }),
              },
            },
            params: { header: once(key) },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['qr-codes'] })
        await navigate({ to: pathOf('qrCode', code.qrCodeId) })
      }}
    />
  )
}
