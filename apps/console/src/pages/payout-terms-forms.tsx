import { TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { accountOf, BANK_ACCOUNT_RULES, BankAccountFields } from '../parts/bank-account-fields.tsx'
import { FEE_RULES, FeeFields } from '../parts/fee-fields.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
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
    ...BANK_ACCOUNT_RULES,
    gstState: (value) => (value === '' || /^\d{2}$/.test(value) ? null : 'Two digits'),
  },
  fields: (form) => (
    <BankAccountFields form={form}>
      <TextInput label="GST state" placeholder="29" {...form.getInputProps('gstState')} />
    </BankAccountFields>
  ),
  submit: async (values) => {
    const body = {
      ...accountOf(values),
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

type FeeValues = Record<'percent' | 'fixed' | 'validFrom', string>

export const feeForm = (merchantId: string): TermsForm<FeeValues> => ({
  initial: { percent: '', fixed: '0', validFrom: '' },
  rules: FEE_RULES,
  fields: (form) => (
    <>
      <FeeFields form={form} />
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
