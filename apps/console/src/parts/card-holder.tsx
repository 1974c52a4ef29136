import { Group, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { E_MAIL } from '../e-mail.ts'
import { rupees } from './money.tsx'

export interface HolderValues extends Record<string, unknown> {
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly mobile: string
  readonly loadAmount: string
}
export const NO_HOLDER: HolderValues = { firstName: '', lastName: '', email: '', mobile: '', loadAmount: '' }

export const HOLDER_RULES = {
  email: (value: string, { mobile }: HolderValues) =>
    (value === '' && mobile !== '') || E_MAIL.test(value)
      ? null
      : 'An e-mail address, or a mobile number below',
  mobile: (value: string) => (value === '' || /^\d{10}$/.test(value) ? null : 'Must be exactly 10 digits'),
  loadAmount: (value: string) =>
    value === '' || /^[1-9]\d{0,8}$/.test(value) ? null : 'A whole number of rupees, at least 1',
}

/** Whom the card is for, and what is loaded. */
export function HolderFields<V extends HolderValues>({
  form,
  denomination,
}: {
  readonly form: UseFormReturnType<V>
  readonly denomination: number
}) {
  return (
    <>
      <TextInput label="E-mail of the holder" type="email" {...form.getInputProps('email')} />
      <Group grow align="start">
        <TextInput label="First name" {...form.getInputProps('firstName')} />
        <TextInput label="Last name" {...form.getInputProps('lastName')} />
      </Group>
      <Group grow align="start">
        <TextInput label="Mobile" inputMode="tel" {...form.getInputProps('mobile')} />
        <TextInput
          label="Load in rupees"
          placeholder={rupees(denomination)}
          inputMode="numeric"
          {...form.getInputProps('loadAmount')}
        />
      </Group>
    </>
  )
}

/** What was filled in, as an order of a card. */
export const orderOf = ({ firstName, lastName, email, mobile, loadAmount }: HolderValues) =>
  Object.fromEntries(
    Object.entries({ firstName, lastName, email, mobile, loadAmount }).filter(([, value]) => value !== ''),
  )
