import { TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { needed } from '../parts/form-dialog.tsx'

export const NO_BUSINESS = { name: '', vpa: '', mcc: '' }

export const BUSINESS_RULES = {
  name: needed,
  vpa: (value: string) => (/^[^@\s]+@[^@\s]+$/.test(value) ? null : 'Must look like name@handle'),
  mcc: (value: string) => (/^\d{4}$/.test(value) ? null : 'Must be four digits'),
}

interface BusinessFieldsProps {
  readonly form: UseFormReturnType<typeof NO_BUSINESS>
  /** Of a merchant that has one. */
  readonly aboutVpa?: string
}

/** What payers and banks know a merchant by. */
export const BusinessFields = ({ form, aboutVpa }: BusinessFieldsProps) => (
  <>
    <TextInput
      label="Name"
      description="Payers see it"
      autoFocus
      data-autofocus
      {...form.getInputProps('name')}
    />
    <TextInput
      label="VPA"
      placeholder="corner.shop@bank"
      description={aboutVpa}
      {...form.getInputProps('vpa')}
    />
    <TextInput
      label="Merchant category code"
      description="ISO 18245, such as 5411 for groceries"
      inputMode="numeric"
      {...form.getInputProps('mcc')}
    />
  </>
)
