import { Group, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'

type Values = Record<'percent' | 'fixed', string>

const decimal = (value: string) =>
  /^\d{1,4}(?:\.\d{1,2})?$/.test(value) ? null : 'A number with at most two decimals'

export const FEE_RULES = { percent: decimal, fixed: decimal }

/** A fee, as operators set it and members ask for it. */
export const FeeFields = <Form extends Values>({ form }: { readonly form: UseFormReturnType<Form> }) => (
  <Group grow align="start">
    <TextInput label="Percent of the amount" inputMode="decimal" {...form.getInputProps('percent')} />
    <TextInput label="Rupees for each payment" inputMode="decimal" {...form.getInputProps('fixed')} />
  </Group>
)
