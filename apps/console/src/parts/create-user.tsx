import { Group, TextInput } from '@mantine/core'
import { E_MAIL } from '../e-mail.ts'
import type { FormKey } from '../form-key.ts'
import { CompanyField, type OfCompany } from './company-field.tsx'
import { FormDialog, needed } from './form-dialog.tsx'

interface CreateUserProps extends OfCompany {
  readonly variant?: 'filled' | 'default'
  /** What was filled in. */
  readonly create: (user: { readonly companyId: string }, key: FormKey) => Promise<unknown>
}

/** A form for a new holder; of this company, or of one to be chosen. */
export function CreateUser({ companyId = '', companies, variant = 'filled', create }: CreateUserProps) {
  return (
    <FormDialog
      label="Register holder"
      send="Register"
      variant={variant}
      initial={{ companyId, firstName: '', lastName: '', email: '', mobile: '' }}
      rules={{
        companyId: needed,
        email: (value: string) => (value === '' || E_MAIL.test(value) ? null : 'Must be an e-mail address'),
        mobile: (value: string) =>
          value === '' || /^\d{10}$/.test(value) ? null : 'Must be exactly 10 digits',
      }}
      fields={(form) => (
        <>
          {!companyId && <CompanyField companies={companies} {...form.getInputProps('companyId')} />}
          <Group grow>
            <TextInput label="First name" {...form.getInputProps('firstName')} />
            <TextInput label="Last name" {...form.getInputProps('lastName')} />
          </Group>
          <TextInput label="E-mail" type="email" {...form.getInputProps('email')} />
          <TextInput label="Mobile" inputMode="tel" {...form.getInputProps('mobile')} />
        </>
      )}
      submit={({ companyId: of, ...texts }, key) => {
        const given = Object.entries(texts).filter(([, text]) => text.trim() !== '')
        return create(
          { companyId: of, ...Object.fromEntries(given.map(([name, text]) => [name, text.trim()])) },
          key,
        )
      }}
    />
  )
}
