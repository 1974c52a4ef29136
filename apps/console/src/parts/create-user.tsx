import { Group, TextInput } from '@mantine/core'
import { api, responseOf } from '../api.ts'
import { E_MAIL } from '../e-mail.ts'
import { once } from '../form-key.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient } from '../session.ts'

interface CreateUserProps {
  readonly companyId?: string
  readonly variant?: 'filled' | 'default'
}

/** A form for a new user; of this company, or of one to be chosen. */
export function CreateUser({ companyId = '', variant = 'filled' }: CreateUserProps) {
  return (
    <FormDialog
      label="Create user"
      send="Create"
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
          {!companyId && <Picker of="company" {...form.getInputProps('companyId')} />}
          <Group grow>
            <TextInput label="First name" {...form.getInputProps('firstName')} />
            <TextInput label="Last name" {...form.getInputProps('lastName')} />
          </Group>
          <TextInput label="E-mail" type="email" {...form.getInputProps('email')} />
          <TextInput label="Mobile" inputMode="tel" {...form.getInputProps('mobile')} />
        </>
      )}
      submit={async (values, key) => {
        const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
        await responseOf(
          api.POST('/users', {
            params: { header: once(key) },
            body: { companyId: values.companyId, ...body },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['users'] })
        await queryClient.invalidateQueries({ queryKey: ['companies'] })
      }}
    />
  )
}
