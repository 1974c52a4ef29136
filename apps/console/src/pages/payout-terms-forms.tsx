import { Group, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { queryClient } from '../session.ts'

const changed = () => queryClient.invalidateQueries({ queryKey: ['merchants'] })

/** A form, or the part of one that sets more. */
interface TermsForm<V> {
  readonly initial: V
  readonly rules: Partial<Record<keyof V, (value: string) => string | null>>
  readonly fields: <Form extends V>(form: UseFormReturnType<Form>) => ReactNode
  readonly submit: (values: V) => Promise<void>
}

type BankAccountValues = Record<'holder' | 'number' | 'ifsc' | 'gstState', string>

/** The number is typed again for each change: only its last digits are shown anywhere. */
export const bankAccountForm = (
  merchantId: string,
  { holder = '', ifsc = '', gstState = '' }: Partial<Schemas['MerchantBankAccount']> = {},
): TermsForm<BankAccountValues> => ({
  initial: { holder, number: '', ifsc, gstState },
  rules: {
    holder: needed,
    number: (value) => (/^\d{6,18}$/.test(value.trim()) ? null : '6 to 18 digits'),
    ifsc: (value) =>
      /^[A-Z]{4}0[A-Z0-9]{6}$/.test(value.trim()) ? null : 'Four letters, a zero, six letters or digits',
    gstState: (value) => (value === '' || /^\d{2}$/.test(value) ? null : 'Two digits'),
  },
  fields: (form) => (
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
  ),
  submit: async (values) => {
    const body = {
      holder: values.holder.trim(),
      number: values.number.trim(),
      ifsc: values.ifsc.trim(),
      ...(values.gstState !== '' && { gstState: values.gstState }),
    }
    await responseOf(
      api.PUT('/merchants/{merchantId}/bank-account', { params: { path: { merchantId } }, body }),
    )
    await changed()
  },
})

interface SetBankAccountProps {
  readonly merchantId: string
  readonly bankAccount: Schemas['MerchantBankAccount'] | undefined
}

export function SetBankAccount({ merchantId, bankAccount }: SetBankAccountProps) {
  return (
    <FormDialog
      label={bankAccount ? 'Change bank account' : 'Set bank account'}
      send="Save"
      variant="default"
      {...bankAccountForm(merchantId, bankAccount)}
    />
  )
}

const decimal = (value: string) =>
  /^\d{1,4}(?:\.\d{1,2})?$/.test(value) ? null : 'A number with at most two decimals'

type FeeValues = Record<'percent' | 'fixed' | 'validFrom', string>

export const feeForm = (merchantId: string): TermsForm<FeeValues> => ({
  initial: { percent: '', fixed: '0', validFrom: '' },
  rules: { percent: decimal, fixed: decimal },
  fields: (form) => (
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
  ),
  submit: async ({ percent, fixed, validFrom }) => {
    const body = { percent, fixed, ...(validFrom !== '' && { validFrom }) }
    await responseOf(api.POST('/merchants/{merchantId}/fees', { params: { path: { merchantId } }, body }))
    await changed()
  },
})

export function SetFee({ merchantId }: { readonly merchantId: string }) {
  return <FormDialog label="Set fee" send="Save" variant="default" {...feeForm(merchantId)} />
}
