import { Group, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { needed } from './form-dialog.tsx'

type Values = Record<'holder' | 'number' | 'ifsc', string>

export const BANK_ACCOUNT_RULES = {
  holder: needed,
  number: (value: string) => (/^\d{6,18}$/.test(value.trim()) ? null : '6 to 18 digits'),
  ifsc: (value: string) =>
    /^[A-Z]{4}0[A-Z0-9]{6}$/.test(value.trim()) ? null : 'Four letters, a zero, six letters or digits',
}

interface BankAccountFieldsProps<Form extends Values> {
  readonly form: UseFormReturnType<Form>
  /** Beside the code of the branch. */
  readonly children?: ReactNode
}

/** A bank account, as operators enter it and members ask for it: its number is typed again for each change. */
export const BankAccountFields = <Form extends Values>({ form, children }: BankAccountFieldsProps<Form>) => (
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
      {children}
    </Group>
  </>
)

export const accountOf = ({ holder, ifsc, number }: Values): Values => ({
  holder: holder.trim(),
  number: number.trim(),
  ifsc: ifsc.trim(),
})
