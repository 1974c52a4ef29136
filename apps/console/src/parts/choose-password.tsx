import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FailureAlert } from './failure-alert.tsx'

interface ChoosePasswordProps {
  /** For the browser's store of passwords. */
  readonly name: string
  /** On the button. */
  readonly send: string
  readonly busy: boolean
  readonly failed: unknown
  readonly choose: (password: string) => void
}

/** What an invited person fills in: a password, twice. */
export function ChoosePassword({ name, send, busy, failed, choose }: ChoosePasswordProps) {
  const form = useForm({
    initialValues: { password: '', again: '' },
    validate: {
      password: (value) => (value.length >= 12 ? null : 'At least 12 characters'),
      again: (value, { password }) => (value === password ? null : 'Not the same'),
    },
  })
  return (
    <form onSubmit={form.onSubmit(({ password }) => choose(password))} noValidate>
      <Stack gap="sm">
        <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
        <PasswordInput
          label="Choose a password"
          description="At least 12 characters; a few words are easier to remember than symbols"
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        <PasswordInput
          label="Repeat the password"
          autoComplete="new-password"
          {...form.getInputProps('again')}
        />
        {failed !== null && failed !== undefined && <FailureAlert failed={failed} />}
        <Button type="submit" loading={busy}>
          {send}
        </Button>
      </Stack>
    </form>
  )
}
